need matmul
mkdir small
ounce quantize matmul.onnx -o small
ounce quantize matmul.onnx -o new/deep/
ls small new/deep
