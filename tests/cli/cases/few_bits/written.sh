need tied gemm
ounce quantize tied.onnx gemm.onnx --to int4
ounce quantize gemm.onnx --to int4 --kernels qdq -o qdq.onnx
ounce quantize gemm.onnx --to int8 -o eight.onnx --json 2>/dev/null | json_get results.0.format results.0.tensors.0.encoding results.0.tensors.0.decoder results.0.tensors.0.granularity
ounce inspect tied.int4.onnx
