need trained quantized
ounce quantize trained.onnx --to int8
ounce quantize trained.onnx --to int8-dynamic || echo "exit $?"
ounce quantize trained.int8.onnx --to int8 || echo "exit $?"
ounce quantize quantized.onnx --to int8-dynamic --no-reduce-range
