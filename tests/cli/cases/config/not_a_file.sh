# Only a regular file of a bounded size is opened: a pipe would wait, a device would never end.
need matmul
mkfifo pipe
head -c 1048577 /dev/zero | tr '\0' '#' >large.toml
exits 2 timeout 20 ounce --config pipe quantize matmul.onnx
exits 2 timeout 20 ounce --config /dev/zero quantize matmul.onnx
exits 2 timeout 20 ounce --config . quantize matmul.onnx
exits 2 timeout 20 ounce --config large.toml quantize matmul.onnx
ls
