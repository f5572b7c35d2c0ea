need matmul text truncated
exits 2 ounce diff matmul.onnx text.onnx
exits 2 ounce diff truncated.onnx matmul.onnx
exits 4 ounce diff matmul.onnx nowhere.onnx
exits 2 ounce diff matmul.onnx
exits 2 ounce diff matmul.onnx matmul.onnx --report matmul.onnx
