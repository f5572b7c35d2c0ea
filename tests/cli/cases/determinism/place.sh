# Where the model lies and where the result goes leaves no trace in it.
need matmul
mkdir -p elsewhere/deep
cp matmul.onnx elsewhere/deep/other.onnx
ounce quantize matmul.onnx >/dev/null
(cd elsewhere && ounce quantize deep/other.onnx >/dev/null)
ounce quantize "$PWD/elsewhere/deep/other.onnx" -o elsewhere/absolute.onnx >/dev/null
cmp matmul.w8.onnx elsewhere/deep/other.w8.onnx
cmp matmul.w8.onnx elsewhere/absolute.onnx
