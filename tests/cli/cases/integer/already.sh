# Models that somebody else has quantized, and those of 16-bit floats: what is left to gain, or a sentence.
need half integer_conv few_bits
for format in int8-dynamic int8 w16 fp16; do exits 3 ounce quantize half.onnx --to $format; done
for format in int8-dynamic int8; do exits 3 ounce quantize integer_conv.onnx --to $format; done
for format in w8 int8-dynamic fp16; do exits 3 ounce quantize few_bits.onnx --to $format; done
for model in half integer_conv; do
  ounce quantize $model.onnx --to w8 --json 2> /dev/null | json_get results.0.stored_tensors results.0.notes
done
