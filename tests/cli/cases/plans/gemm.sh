need gemm
ounce quantize gemm.onnx --dry-run
