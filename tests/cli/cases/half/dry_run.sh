need masked
ounce quantize masked.onnx --to fp16 --target cuda --dry-run
ls masked.fp16.onnx 2>/dev/null || echo "nothing was written"
