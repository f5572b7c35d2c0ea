need matmul text trees
exits 3 ounce quantize matmul.onnx trees.onnx -o small
exits 3 ounce quantize text.onnx trees.onnx -o small
exits 4 ounce quantize text.onnx trees.onnx absent.onnx matmul.onnx -o small
