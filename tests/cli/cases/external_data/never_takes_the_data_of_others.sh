# A result that was renamed still uses its data, which bears the old name.
need external
ounce quantize external.onnx -o small.onnx --external-data always --to w16 >/dev/null
mv small.onnx renamed.onnx
ounce quantize external.onnx -o small.onnx >/dev/null
ounce inspect renamed.onnx >/dev/null
ls
