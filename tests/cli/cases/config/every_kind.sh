# All of TOML, and all that options say: verbs inside of verbs, flags by either name, numbers, models, several lines.
need matmul
cat >options.toml <<'END'
quantize.to = 'w4'
quantize.no-verify = true
quantize.fp16-budget = 0.0
quantize.min-bytes = 0x40
quantize.exclude = [
  "^b$",  # with a comma behind the last
]
quantize.include = []
quantize.model = ["matmul.onnx"]

[contract.set]
rescale = "1/255"
layout = """nchw"""
END
ounce --config options.toml quantize -o from_file.onnx >/dev/null
ounce quantize matmul.onnx -o from_flags.onnx --to w4 --no-verify --fp16-budget 0 --min-bytes 64 --exclude '^b$' >/dev/null
cmp from_file.onnx from_flags.onnx && echo same
ounce --config options.toml contract set matmul.onnx -o told.onnx >/dev/null
ounce contract set matmul.onnx -o said.onnx --rescale 1/255 --layout nchw >/dev/null
cmp told.onnx said.onnx && echo same
