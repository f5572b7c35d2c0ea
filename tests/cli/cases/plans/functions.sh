need functions
ounce quantize functions.onnx --dry-run
