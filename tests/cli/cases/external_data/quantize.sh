need external
ounce quantize external.onnx -o never.onnx --external-data never
ounce quantize external.onnx -o always.onnx --external-data always
ounce quantize external.onnx -o auto.onnx
cmp never.onnx auto.onnx
ls
ounce inspect always.onnx
