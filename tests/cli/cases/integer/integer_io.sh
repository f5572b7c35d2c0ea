need signal
ounce quantize signal.onnx --to static --data signal.npz --integer-io --no-search --no-reduce-range >/dev/null
ounce inspect signal.static.onnx | grep put
ounce verify signal.onnx signal.static.onnx --data signal.npz --no-edge-cases >/dev/null && echo passed
