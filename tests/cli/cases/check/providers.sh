need signal
ounce check signal.onnx --target android-arm64@1.22.0,ios-arm64@1.22.0+coreml
