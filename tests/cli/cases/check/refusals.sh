need matmul truncated
ounce check || echo "exit $?"
ounce check matmul.onnx --target nowhere || echo "exit $?"
ounce check matmul.onnx --target cuda || echo "exit $?"
ounce check truncated.onnx || echo "exit $?"
ounce check missing.onnx || echo "exit $?"
