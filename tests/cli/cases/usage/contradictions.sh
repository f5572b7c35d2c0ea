need matmul
exits 2 ounce quantize matmul.onnx --codebook --asymmetric
exits 2 ounce quantize matmul.onnx --codebook --granularity channel
exits 2 ounce quantize matmul.onnx --codebook --decode dq
exits 2 ounce quantize matmul.onnx --to w16 --codebook
exits 2 ounce quantize matmul.onnx --to w16 --asymmetric
exits 2 ounce quantize matmul.onnx --to w16 --granularity block:32
exits 2 ounce quantize matmul.onnx --decode dq --memory low
exits 2 ounce quantize matmul.onnx --to w16 --memory low
exits 2 ounce inspect matmul.onnx --codebook --asymmetric
ls
