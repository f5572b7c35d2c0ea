need lstm
ounce quantize lstm.onnx --dry-run --min-bytes 5000
ounce quantize lstm.onnx --dry-run --min-bytes 0
exits 3 ounce quantize lstm.onnx --dry-run --min-bytes 1000000
