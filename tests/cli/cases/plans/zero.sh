need zero
ounce quantize zero.onnx --dry-run
