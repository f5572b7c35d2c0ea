# What Ounce has written is no original: it is skipped in folders, and refused with one sentence when it is named.
mkdir models
(cd models && need matmul)
ounce quantize models > /dev/null
ounce quantize models --to int8-dynamic --on none | grep note:
ounce quantize models --to fp16 | grep skipped
for format in w8 w4 int8-dynamic fp16; do exits 3 ounce quantize models/matmul.w8.onnx --to $format; done
exits 3 ounce publish models/matmul.w8.onnx -o out
ounce publish models -o out --no-bench --no-edge-cases --min-sqnr 10 --variants fp32,q8 | grep skipped
find out -name "*.onnx" | sort
# Weights of 16 bits can still be stored in fewer.
ounce quantize models/matmul.fp16.onnx --to w8 -o small.onnx > /dev/null
exits 3 ounce quantize models/matmul.fp16.onnx --to int8-dynamic
# A folder is its original; one without is no source.
ounce repack models -o copy.onnx > /dev/null
cmp copy.onnx models/matmul.onnx
mkdir quantized
cp models/matmul.w8.onnx quantized
exits 2 ounce quantize quantized
exits 2 ounce publish quantized -o none
