need matmul
ounce quantize matmul.onnx -o mse.onnx --to w4
ounce quantize matmul.onnx -o absmax.onnx --to w4 --scale absmax
