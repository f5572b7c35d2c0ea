need matmul
exits 2 ounce quantize matmul.onnx --granularty tensor
exits 2 ounce quantize matmul.onnx --granularty=tensor
exits 2 ounce quantize matmul.onnx -x
exits 2 ounce inspect matmul.onnx --jason
exits 2 ounce --confg options.toml quantize matmul.onnx
touch options.toml
exits 2 ounce --config options.toml
ls
