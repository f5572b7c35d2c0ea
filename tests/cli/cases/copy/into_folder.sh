need matmul
mkdir folder
ounce copy matmul.onnx -o folder
ounce copy matmul.onnx -o new/
cmp matmul.onnx folder/matmul.onnx
cmp matmul.onnx new/matmul.onnx
exits 2 ounce copy matmul.onnx -o .
