need branches
ounce quantize branches.onnx --dry-run
