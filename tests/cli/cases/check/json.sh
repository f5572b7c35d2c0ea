need dynamic_conv
ounce check dynamic_conv.onnx --target linux-x64@1.22.0 --json 2>/dev/null || echo "exit $?"
