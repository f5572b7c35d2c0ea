# Out into a file, back in, and it is the same model again.
need matmul
ounce repack matmul.onnx -o out.onnx --external-data always
ls
ounce repack out.onnx -o back.onnx --external-data never
ounce repack back.onnx -o out2.onnx --external-data always
ounce inspect out.onnx
mkdir other
ounce repack back.onnx -o other/back.onnx
cmp back.onnx other/back.onnx
ls
