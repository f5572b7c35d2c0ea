need signal
ounce calibrate signal.onnx --data signal.npz
ounce quantize signal.onnx --to int8 --ranges signal.ranges --no-reduce-range
