need masked loud
ounce quantize masked.onnx --to fp16 --target cuda --data masked.npz --keep-names
ounce verify masked.onnx masked.fp16.onnx --data masked.npz --min-sqnr 55 >/dev/null && echo "as it was"
ounce quantize loud.onnx --to fp16 --target cuda || echo "exit $?"
ounce quantize loud.onnx --to fp16 --target cuda --data loud.npz
