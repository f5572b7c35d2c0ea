need matmul external
cp matmul.onnx before.onnx
ln -s matmul.onnx link.onnx
ln matmul.onnx hard.onnx
mkdir folder
exits 2 ounce quantize matmul.onnx -o matmul.onnx
exits 2 ounce quantize matmul.onnx -o ./folder/../matmul.onnx
exits 2 ounce quantize matmul.onnx -o "$PWD/matmul.onnx"
exits 2 ounce quantize "$PWD/matmul.onnx" -o matmul.onnx
exits 2 ounce quantize matmul.onnx -o link.onnx
exits 2 ounce quantize link.onnx -o matmul.onnx
exits 2 ounce quantize matmul.onnx -o hard.onnx
exits 2 ounce quantize matmul.onnx -o .
exits 2 ounce quantize matmul.onnx -o matmul.onnx --dry-run
exits 2 ounce quantize external.onnx -o external.data
exits 2 ounce repack matmul.onnx -o matmul.onnx
exits 2 ounce repack matmul.onnx -o link.onnx
cmp matmul.onnx before.onnx
ls
