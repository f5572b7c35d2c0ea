# The size that inspect foretells is the size that quantize writes.
need matmul
ounce inspect matmul.onnx --json 2>/dev/null | json_get results.0.bytes_after
ounce quantize matmul.onnx --json 2>/dev/null | json_get results.0.bytes_after
wc -c <matmul.w8.onnx
