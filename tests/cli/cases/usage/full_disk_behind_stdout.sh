# What is printed is a result too: if it is lost, the exit code says so.
need matmul
exits 4 ounce inspect matmul.onnx >/dev/full
exits 4 ounce inspect matmul.onnx --json >/dev/full
exits 4 ounce --help >/dev/full
