need matmul gemm
ounce quantize matmul.onnx -o small.onnx -v --asymmetric
ounce quantize matmul.onnx -o small.onnx -v --asymmetric --to w4
ounce quantize gemm.onnx -o small.onnx -v --asymmetric --granularity tensor
ounce quantize gemm.onnx -o small.onnx -v --asymmetric --decode dq
