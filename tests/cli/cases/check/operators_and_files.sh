need external matmul
ounce check external.onnx --target linux-x64@1.22.0 --required-ops ops.config | grep -v '^Next: ' | tail -n 1
cat ops.config
ounce check matmul.onnx --required-ops matmul.onnx 2>&1 >/dev/null || echo "exit $?"
ounce check external.onnx --required-ops external.data 2>&1 >/dev/null || echo "exit $?"
ounce check matmul.onnx --required-ops nowhere/ops.config 2>&1 || echo "exit $?"
ounce repack external.onnx -o packed.onnx --emit ort | sed 's/ort: [0-9.]* [kM]*B/ort: <size>/; s/: [0-9.]* kB/: <size>/'
ls packed* && ounce inspect matmul.onnx >/dev/null && echo "the model is still there"
