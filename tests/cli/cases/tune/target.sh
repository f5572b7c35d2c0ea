# What the place lacks is not written.
need fatal
ounce tune fatal.onnx --data fatal.npz --target android-arm64@1.22.0 --objective latency --budget '6 models' --no-cache -o small.onnx > /dev/null
ounce check small.onnx --target android-arm64@1.22.0 > /dev/null
