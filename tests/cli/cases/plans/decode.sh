# DequantizeLinear needs an opset that has the form; otherwise folded, with the reason.
need matmul opset21 ir3
ounce quantize matmul.onnx -o small.onnx -v --decode fold
ounce quantize matmul.onnx -o small.onnx -v --decode dq
ounce quantize matmul.onnx -o small.onnx -v --decode dq --to w4
ounce quantize opset21.onnx -o small.onnx -v --decode dq --to w4
ounce quantize opset21.onnx -o small.onnx -v --decode dq --granularity block:16 --asymmetric
ounce quantize ir3.onnx -o small.onnx -v --decode dq
