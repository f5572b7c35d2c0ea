# Two results must not take the same place.
mkdir a b
(cd a && need matmul)
(cd b && need conv && mv conv.onnx matmul.onnx)
exits 2 ounce quantize a/matmul.onnx b/matmul.onnx -o small
exits 2 ounce quantize a b -o small
exits 2 ounce quantize a/matmul.onnx a/matmul.onnx
find . | sort
