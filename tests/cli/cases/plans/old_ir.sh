need ir3
ounce quantize ir3.onnx --dry-run
