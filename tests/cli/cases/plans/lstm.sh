need lstm
ounce quantize lstm.onnx --dry-run
