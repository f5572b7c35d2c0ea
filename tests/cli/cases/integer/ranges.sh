need signal
ounce calibrate signal.onnx --data signal.npz
ounce quantize signal.onnx --to static --ranges signal.ranges --no-reduce-range
