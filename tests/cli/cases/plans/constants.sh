need constants
ounce quantize constants.onnx --dry-run
