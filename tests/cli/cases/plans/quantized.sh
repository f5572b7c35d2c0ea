need quantized
ounce quantize quantized.onnx --dry-run
