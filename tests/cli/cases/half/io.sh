need signal
ounce quantize signal.onnx --to fp16 --io fp16 --target cuda --keep-names
ounce inspect signal.fp16.onnx | grep float16
ounce verify signal.onnx signal.fp16.onnx --data signal.npz --min-sqnr 55 >/dev/null && echo "as it was"
