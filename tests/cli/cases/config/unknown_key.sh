need matmul
printf '[quantize]\ngranularty = "tensor"\n' >key.toml
printf '[quantise]\nto = "w4"\n' >section.toml
printf 'to = "w4"\n' >no_section.toml
exits 2 ounce --config key.toml quantize matmul.onnx
exits 2 ounce --config section.toml quantize matmul.onnx
exits 2 ounce --config no_section.toml quantize matmul.onnx
ls
