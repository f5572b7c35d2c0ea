need matmul trees embedding
ounce quantize matmul.onnx --to fp16 --target toaster || echo "exit $?"
ounce quantize matmul.onnx --to fp16 --codebook || echo "exit $?"
ounce quantize matmul.onnx --to fp16 --exclude w || echo "exit $?"
ounce quantize matmul.onnx --to w8 --io fp16 || echo "exit $?"
ounce quantize matmul.onnx --to w8 --keep-fp32 w || echo "exit $?"
ounce quantize matmul.onnx --to fp16 --keep-fp32 '(' || echo "exit $?"
ounce quantize trees.onnx --to fp16 || echo "exit $?"
ls *.fp16.onnx *.w8.onnx 2>/dev/null || echo "nothing was written"
