# Ctrl-C in the moment in which the first model gets to its place: who says that nothing was written has written nothing.
need fatal matmul
for round in 1 2; do
  rm -f small.onnx
  ounce tune matmul.onnx --data fatal.npz --budget 10m --no-cache -o small.onnx > text 2>&1 &
  run=$!
  python3 - $run <<'END'
import os, signal, sys
while not os.path.exists("small.onnx"):
    os.kill(int(sys.argv[1]), 0)
os.kill(int(sys.argv[1]), signal.SIGINT)
END
  code=0
  wait $run || code=$?
  echo "exit $code"
  grep 'nothing was written' text || true
done
