need matmul
printf '[quantize]\nto = "w4"\nverbose = true\n' >options.toml
ounce --config options.toml quantize matmul.onnx --to w16
ls
