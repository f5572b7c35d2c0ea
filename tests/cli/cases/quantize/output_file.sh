need matmul
ounce quantize matmul.onnx -o small.onnx
ounce quantize matmul.onnx
cmp small.onnx matmul.w8.onnx
ls
