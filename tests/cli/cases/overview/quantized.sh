# A quantized model is recognized, and no command is proposed.
need matmul quantized
ounce quantize matmul.onnx > out
ounce matmul.w8.onnx
ounce quantized.onnx | sed -n 2,3p
