# A new result with other data replaces the old one and its data; files of others stay.
need external
touch small.onnx.data small.onnx.notours.data
ounce quantize external.onnx -o small.onnx --external-data always
ounce quantize external.onnx -o small.onnx --external-data always --to w16
ls
ounce quantize external.onnx -o small.onnx
ls
