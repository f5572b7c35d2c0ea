need matmul
cat >options.toml <<'END'
# Everything the flags can say.
[quantize]
to = "w4"
granularity = "block:16"  # a comment
scale = "absmax"
asymmetric = true
min-bytes = 64
include = ["MatMul", "w"]
exclude = ["^b$"]
external-data = "never"
END
ounce --config options.toml quantize matmul.onnx -o from_file.onnx
ounce quantize matmul.onnx -o from_flags.onnx --to w4 --granularity block:16 --scale absmax --asymmetric --min-bytes 64 \
  --include MatMul --include w --exclude '^b$' --external-data never
cmp from_file.onnx from_flags.onnx
