exits 2 ounce quantise matmul.onnx
