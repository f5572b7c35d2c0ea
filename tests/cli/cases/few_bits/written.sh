need tied gemm
ounce quantize tied.onnx gemm.onnx --to nbits4
ounce quantize gemm.onnx --to nbits4 --kernels qdq -o qdq.onnx
ounce quantize gemm.onnx --to nbits8 -o eight.onnx --json 2>/dev/null | json_get results.0.format results.0.tensors.0.encoding results.0.tensors.0.decoder results.0.tensors.0.granularity
ounce inspect tied.nbits4.onnx
