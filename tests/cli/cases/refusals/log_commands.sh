# No name is a command for the log of a build service: "::" begins no line, and "##[" is nowhere.
need log_commands
harmless() {
  "$@" > printed 2>&1 || true
  if grep -q -e '^ *::' -e '##\[' printed; then echo "a command reached the log: $*"; fi
}
ounce inspect log_commands.onnx | grep -e MatMul -e stop
harmless ounce inspect log_commands.onnx
harmless ounce inspect log_commands.onnx --json
harmless ounce quantize log_commands.onnx -v --no-verify -o small.onnx
harmless ounce diff log_commands.onnx small.onnx
harmless ounce check log_commands.onnx --target linux-x64@1.14.0
harmless ounce quantize log_commands.onnx --include '::none ##[x]' -o small.onnx
# JSON holds the names as they are.
ounce inspect log_commands.onnx --json 2> /dev/null | json_get results.0.tensors.0.name results.0.tensors.1.name
