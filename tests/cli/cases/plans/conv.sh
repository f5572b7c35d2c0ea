need conv conv_transpose
ounce quantize conv.onnx --dry-run
ounce quantize conv_transpose.onnx --dry-run
ounce quantize conv.onnx --dry-run --to w4
ounce quantize conv_transpose.onnx --dry-run --to w4
