need matmul
printf '[inspect]\nto = "w4"\n[quantize]\nto = "w16"\n' >options.toml
ounce --config options.toml quantize matmul.onnx --dry-run
