need matmul conv
ounce quantize matmul.onnx --to bf16 || echo "exit $?"
ounce quantize matmul.onnx --to bf16 --target cuda
ounce quantize conv.onnx --to bf16 --target cuda || echo "exit $?"
