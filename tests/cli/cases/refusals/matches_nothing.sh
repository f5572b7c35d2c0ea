need matmul
exits 2 ounce quantize matmul.onnx --include Conv
exits 2 ounce quantize matmul.onnx --include MatMul --exclude encoder
exits 2 ounce inspect matmul.onnx --include Conv
ls
