need matmul
exits 2 ounce quantize matmul.onnx --to w7
exits 2 ounce quantize matmul.onnx --to
exits 2 ounce quantize matmul.onnx --decode magic
exits 2 ounce quantize matmul.onnx --scale best
exits 2 ounce quantize matmul.onnx --granularity block:7
exits 2 ounce quantize matmul.onnx --granularity row
exits 2 ounce quantize matmul.onnx --external-data sometimes
exits 2 ounce quantize matmul.onnx --min-bytes 1k
exits 2 ounce quantize matmul.onnx --min-bytes -5
exits 2 ounce quantize matmul.onnx --threads -1
exits 2 ounce quantize matmul.onnx --threads many
exits 2 ounce quantize matmul.onnx --threads 1000000
exits 2 ounce quantize matmul.onnx --include '('
exits 2 ounce inspect matmul.onnx --tensors few
ls
