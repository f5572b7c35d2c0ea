need signal
ounce quantize signal.onnx --to int8 --data signal.npz --no-search --no-reduce-range --activations s16 --target linux-x64@1.17.3 || echo "exit $?"
ounce quantize signal.onnx --to int8 --data signal.npz --no-search --no-reduce-range --target linux-x64@1.17.3 | grep -v '^Next: ' | tail -2
ounce quantize signal.onnx --to fp16 --target linux-x64@1.14.0 --keep-names | grep -v "^  note: output"
ounce check signal.int8.onnx signal.fp16.onnx --target linux-x64@1.14.0
