need trees opset6 overridable
exits 3 ounce quantize trees.onnx
exits 3 ounce quantize opset6.onnx
exits 3 ounce quantize overridable.onnx --keep-inputs
exits 3 ounce quantize trees.onnx -o small.onnx --json >result.json
json_get errors.0.code errors.0.message <result.json
rm result.json
ls
