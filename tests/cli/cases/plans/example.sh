need commands
ounce quantize commands.onnx --dry-run
