# Whatever a name holds, a terminal shows it and obeys nothing; no name is a line of its own.
need hostile_names
escape=$(printf '\033') begin=$(printf '\302\233') turn=$(printf '\342\200\256')
shown() {
  "$@" > printed 2>&1 || true
  if grep -q -e "$escape" -e "$begin" -e "$turn" printed || grep -q '^ounce: fake' printed; then echo "reached the terminal: $*"; fi
}
ounce inspect hostile_names.onnx
ounce quantize hostile_names.onnx -v --no-verify -o small.onnx | grep MatMul
shown ounce quantize hostile_names.onnx -o small.onnx --to int8
shown ounce quantize hostile_names.onnx -o small.onnx --to fp16 -v
shown ounce check hostile_names.onnx --target linux-x64@1.14.0
shown ounce verify hostile_names.onnx small.onnx
exits 3 ounce quantize hostile_names.onnx --exclude '.*' -o small.onnx
name=$(printf 'evil\033[31m\nounce: fake.onnx')
exits 4 ounce inspect "$name"
cp hostile_names.onnx "$name"
shown ounce inspect "$name"
printf '[quantize]\n"to\\u001b[31m" = 1\n' > names.toml
exits 2 ounce --config names.toml quantize hostile_names.onnx
exits 2 ounce quantize hostile_names.onnx --to "w8$escape[31m"
# JSON holds them as they are.
ounce inspect hostile_names.onnx --json 2> /dev/null | json_get results.0.tensors.1.name
