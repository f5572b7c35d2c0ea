need matmul
ounce quantize matmul.onnx
ounce quantize matmul.onnx --to w4
ounce quantize matmul.onnx --to w16
ls
