need matmul
ounce inspect matmul.onnx
