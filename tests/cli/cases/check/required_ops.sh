need signal matmul
ounce check signal.onnx matmul.onnx --target linux-x64@1.22.0 --required-ops ops.config
cat ops.config
