need matmul
ounce quantize matmul.onnx --to fp16
