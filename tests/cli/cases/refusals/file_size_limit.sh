# A file that may not grow is an error like a full disk, and nothing is left behind.
need matmul
ulimit -f 1
exits 4 ounce quantize matmul.onnx --no-verify -o small.onnx
exits 4 ounce quantize matmul.onnx --no-verify --external-data always -o small.onnx
ls
