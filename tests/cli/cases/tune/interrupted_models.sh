# Ctrl-C during the first of several: its model is there, the others are not begun.
need fatal matmul
ounce tune matmul.onnx fatal.onnx --data fatal.npz --budget 10m --no-cache -o out --json 2> /dev/null > document &
run=$!
while [ ! -e out/matmul.onnx ] && kill -0 $run; do sleep 0.02; done
sleep 0.2
kill -INT $run
wait $run || true
json_get results.0.model results.0.passed results.0.interrupted < document
ls out
