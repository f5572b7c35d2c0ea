# What is written has one option in all verbs; the output that labels speak of has another.
need matmul
for verb in quantize calibrate "calibrate merge" tune "contract set" copy demo; do
  printf '%s: ' "$verb"
  ounce $verb --help-all | grep -c -- '-o,--output'
done
for verb in verify sensitivity tune advise; do
  printf '%s: ' "$verb"
  ounce $verb --help-all | grep -c -- '--label-output'
done
ounce repack matmul.onnx --output copied.onnx
cmp matmul.onnx copied.onnx
exits 2 ounce verify matmul.onnx copied.onnx --output y
exits 2 ounce bench matmul.onnx --output y
printf '[verify]\noutput = "y"\n' > ounce.toml
exits 2 ounce --config ounce.toml verify matmul.onnx copied.onnx
