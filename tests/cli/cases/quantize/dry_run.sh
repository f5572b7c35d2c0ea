need matmul
cp matmul.onnx before.onnx
ounce quantize matmul.onnx --dry-run -o new/folder/
ounce quantize matmul.onnx --dry-run --json 2>/dev/null | json_get results.0.dry_run results.0.bytes_after results.0.sqnr_db
cmp matmul.onnx before.onnx
ls
ounce quantize matmul.onnx >/dev/null
wc -c <matmul.w8.onnx
