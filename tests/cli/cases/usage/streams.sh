# A stream that is closed or full: no crash, the exit code says it, and no output goes into what was opened in its place.
need matmul
exits 4 ounce repack absent.onnx -o x.onnx 2>&-
exits 4 ounce repack absent.onnx -o x.onnx 2>/dev/full
exits 4 ounce inspect matmul.onnx > /dev/full
exits 4 ounce inspect matmul.onnx >&-
exits 4 ounce --help > /dev/full
ounce quantize matmul.onnx -o a.onnx --no-verify --json 2>&- > printed
ounce quantize matmul.onnx -o b.onnx --no-verify --json 2>/dev/full > printed
exits 4 ounce quantize matmul.onnx -o c.onnx --no-verify --json >&- 2>&-
exits 4 ounce quantize matmul.onnx -o d.onnx --no-verify <&- >&- 2>&-
for file in b c d; do cmp a.onnx $file.onnx; done
