need trained quantized
ounce quantize trained.onnx --to static
ounce quantize trained.onnx --to dynamic || echo "exit $?"
ounce quantize trained.static.onnx --to static || echo "exit $?"
ounce quantize quantized.onnx --to dynamic --no-reduce-range
