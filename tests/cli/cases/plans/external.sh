need external
ounce quantize external.onnx --dry-run
