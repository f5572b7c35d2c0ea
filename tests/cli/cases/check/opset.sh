# An op that the declared opset does not have, or has no more.
need future past
ounce check future.onnx past.onnx --target linux-x64@1.30.0 || echo "exit $?"
