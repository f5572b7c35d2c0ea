# A new result with other data replaces the old one and its data; files of others stay.
need external
touch small.onnx.data small.onnx.notours.data
ounce quantize external.onnx -o small.onnx --external-data always
ounce quantize external.onnx -o small.onnx --external-data always --to w16
ls | sed -E "s,[0-9a-f]{16},TAG," | LC_ALL=C sort
ounce quantize external.onnx -o small.onnx
ls | sed -E "s,[0-9a-f]{16},TAG," | LC_ALL=C sort
