need signal quantized
ounce check signal.onnx --target linux-x64@1.30.0,android-arm64@1.22.0 --target ort-web@1.20.0,linux-x64@1.99.0
ounce quantize signal.onnx --to int8-dynamic --dynamic-conv --no-verify --min-bytes 16 >/dev/null
ounce check signal.int8-dynamic.onnx --target linux-x64@1.14.0
