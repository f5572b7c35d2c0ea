# A pattern that matches nothing is an error, or a note.
need matmul
exits 2 ounce quantize matmul.onnx --exclude nowhere --dry-run
ounce quantize matmul.onnx --exclude nowhere --ignore-unmatched | grep note:
ounce quantize matmul.onnx --exclude nowhere --include MatMul --include Conv --ignore-unmatched --json 2> /dev/null | json_get results.0.unmatched results.0.stored_tensors
ounce quantize matmul.onnx --to fp16 --keep-fp32 nowhere --ignore-unmatched --json 2> /dev/null | json_get results.0.unmatched
