# Codes, scales and what decodes them are new; the rest is as it was.
need matmul
ounce quantize matmul.onnx -o small.onnx --no-verify > human
exits 1 ounce diff matmul.onnx small.onnx
exits 1 ounce diff matmul.onnx small.onnx --json 2> human | json_shape
