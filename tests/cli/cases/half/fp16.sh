need gemm
ounce quantize gemm.onnx --to fp16 --target coreml
ounce verify gemm.onnx gemm.fp16.onnx --min-sqnr 55 >/dev/null && echo "as it was"
