need matmul
cp matmul.onnx before.onnx
ounce quantize matmul.onnx --dry-run -o new/folder/
ounce quantize matmul.onnx --dry-run --json 2>/dev/null | json_get dry_run models.0.bytes_after models.0.sqnr_db
cmp matmul.onnx before.onnx
ls
ounce quantize matmul.onnx >/dev/null
wc -c <matmul.w8.onnx
