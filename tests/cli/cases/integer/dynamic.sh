need signal lstm
ounce quantize signal.onnx --to int8-dynamic --no-reduce-range
ounce quantize lstm.onnx --to int8-dynamic --no-reduce-range
