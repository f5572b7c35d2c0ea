# No colour is used, so NO_COLOR and its opposites change nothing, and nothing but text is printed.
need matmul
ounce inspect matmul.onnx >plain
NO_COLOR=1 ounce inspect matmul.onnx >without
CLICOLOR_FORCE=1 FORCE_COLOR=1 TERM=xterm-256color ounce inspect matmul.onnx >forced
cmp plain without
cmp plain forced
exits 1 grep "$(printf '\033')" plain
