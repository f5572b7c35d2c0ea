need matmul
ounce quantize matmul.onnx --verbose
