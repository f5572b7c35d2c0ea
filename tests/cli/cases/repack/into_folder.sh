need matmul
mkdir folder
ounce repack matmul.onnx -o folder
ounce repack matmul.onnx -o new/
cmp matmul.onnx folder/matmul.onnx
cmp matmul.onnx new/matmul.onnx
exits 2 ounce repack matmul.onnx -o .
