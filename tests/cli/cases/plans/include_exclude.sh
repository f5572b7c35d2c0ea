need lstm matmul
ounce quantize lstm.onnx --dry-run --include '^r$'
ounce quantize lstm.onnx --dry-run --exclude '^r$'
ounce quantize lstm.onnx --dry-run --include LSTM --exclude '^w$'
exits 3 ounce quantize matmul.onnx --dry-run --exclude matmul_product
