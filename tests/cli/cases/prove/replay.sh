# The statement of a model is shown, and replayed: by its source, its data, its gate.
need matmul large
plain() { sed 's/[0-9][0-9]* dB/<dB>/g'; }
ounce quantize matmul.onnx > /dev/null
exits 5 ounce prove matmul.w8.onnx | plain
exits 0 ounce prove matmul.w8.onnx --source matmul.onnx | plain
# Every format comes out the same again, with external data too.
for to in w4 w16 int8-dynamic fp16; do
  ounce quantize matmul.onnx --to $to --external-data always -o m.$to.onnx > /dev/null
  exits 0 ounce prove m.$to.onnx --source matmul.onnx | grep -e recipe -e trial | plain
done
ounce quantize matmul.onnx --no-verify --granularity tensor --min-bytes 100 -o n.onnx > /dev/null
exits 0 ounce prove n.onnx --source matmul.onnx | plain
# By hand, it is the same file.
ounce prove n.onnx --json 2> /dev/null | json_get results.0.statement.command
ounce quantize matmul.onnx -o again.onnx --to w8 --granularity tensor --min-bytes 100 --no-verify > /dev/null
cmp n.onnx again.onnx
