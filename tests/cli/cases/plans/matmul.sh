need matmul
ounce quantize matmul.onnx --dry-run
ounce quantize matmul.onnx --dry-run --to w4
