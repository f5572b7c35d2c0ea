exits 2 ounce quantise matmul.onnx
exits 2 ounce matmul.onnx  # nothing is near enough for a guess
