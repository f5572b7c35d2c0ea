need dynamic_conv
ounce check dynamic_conv.onnx --target android-arm64@1.22.0,linux-x64@1.22.0,linux-x64@1.30.0 || echo "exit $?"
ounce check dynamic_conv.onnx --target linux-x64@1.30.0 >/dev/null && echo "runs there"
