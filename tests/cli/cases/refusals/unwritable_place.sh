need matmul
touch file
mkdir folder
exits 4 ounce quantize matmul.onnx -o absent/small.onnx
exits 4 ounce quantize matmul.onnx -o file/small.onnx
exits 4 ounce quantize matmul.onnx -o file/
exits 4 ounce quantize matmul.onnx -o /proc/small.onnx
exits 4 ounce demo -o file/demo
ls
