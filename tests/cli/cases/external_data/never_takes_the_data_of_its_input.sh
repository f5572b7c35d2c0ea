# The input was made beside the output once, and shares its data.
need external
ounce repack external.onnx -o small.onnx --external-data always >/dev/null
cp small.onnx input.onnx
ounce quantize input.onnx -o small.onnx >/dev/null
ounce inspect input.onnx >/dev/null
ls
