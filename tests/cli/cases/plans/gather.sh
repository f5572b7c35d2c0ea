need embedding tied
ounce quantize embedding.onnx --dry-run
ounce quantize tied.onnx --dry-run
ounce quantize embedding.onnx --dry-run --to w4
ounce quantize tied.onnx --dry-run --to w4
