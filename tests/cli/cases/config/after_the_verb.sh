need matmul
printf '[quantize]\nto = "w16"\n' >options.toml
ounce quantize matmul.onnx --config options.toml
ls
