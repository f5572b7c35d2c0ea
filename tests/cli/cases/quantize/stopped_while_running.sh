# Ctrl-C while the result is tried: the runner ends with us, and nothing is written.
need endless
code=0
timeout --foreground --preserve-status --signal=INT 2 ounce quantize endless.onnx -o small.onnx || code=$?
echo "exit $code"
ls
