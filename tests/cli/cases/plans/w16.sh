need lstm embedding quantized
ounce quantize lstm.onnx --to w16 --dry-run
ounce quantize embedding.onnx --to w16 --dry-run
ounce quantize quantized.onnx --to w16 --dry-run
