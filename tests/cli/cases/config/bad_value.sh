need matmul
printf '[quantize]\nto = "w7"\n' >options.toml
ounce --config options.toml quantize matmul.onnx
