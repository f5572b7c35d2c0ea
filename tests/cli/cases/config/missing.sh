need matmul
ounce --config options.toml quantize matmul.onnx
