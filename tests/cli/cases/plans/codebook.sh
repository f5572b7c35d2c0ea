need matmul embedding
ounce quantize matmul.onnx -o small.onnx -v --codebook
ounce quantize matmul.onnx -o small.onnx -v --codebook --to w4
ounce quantize embedding.onnx -o small.onnx -v --codebook
ounce quantize embedding.onnx -o small.onnx -v --codebook --to w4
