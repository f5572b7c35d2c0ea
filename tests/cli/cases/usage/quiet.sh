# --quiet prints errors and the JSON document only.
need matmul
ounce quantize matmul.onnx --quiet
ounce -q quantize matmul.onnx --json | json_get verb
exits 4 ounce verify -q matmul.onnx missing.onnx
