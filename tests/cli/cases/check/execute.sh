need signal
ounce check signal.onnx --target linux-x64@1.22.0 --execute 2>&1 | grep -v '^Next: ' | tail -n 1
ounce check signal.onnx --target linux-x64@1.22.0 --via "sh -c" 2>&1 | grep -v '^Next: ' | tail -n 1
ounce check signal.onnx --target linux-x64@1.22.0 --via "false" 2>&1 | grep -v '^Next: ' | tail -n 1 | cut -c1-67
ounce check signal.onnx --target ort-web@1.20.0 --execute | grep "not executed"
ounce bench signal.onnx --via "sh -c" -t 0.1 --cold-starts 0 > out && grep -c "signal.onnx" out
