need signal
ounce quantize signal.onnx --to int8 --data signal.npz --integer-io --no-search --no-reduce-range >/dev/null
ounce inspect signal.int8.onnx | grep put
ounce verify signal.onnx signal.int8.onnx --data signal.npz --no-edge-cases >/dev/null && echo passed
