need matmul
ounce repack matmul.onnx -o copy.onnx --json 2> human
cat human
cmp matmul.onnx copy.onnx && echo "identical"
