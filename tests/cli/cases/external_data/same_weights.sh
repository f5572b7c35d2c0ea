# Where the bytes stand changes nothing else: packed in, the result is the one that was written inline.
need external
ounce quantize external.onnx -o inline.onnx
ounce quantize external.onnx -o outside.onnx --external-data always
ounce repack outside.onnx -o packed.onnx --external-data never
ounce repack inline.onnx -o unpacked.onnx --external-data never
cmp packed.onnx unpacked.onnx
