need signal lstm
ounce quantize signal.onnx --to dynamic --no-reduce-range
ounce quantize lstm.onnx --to dynamic --no-reduce-range
