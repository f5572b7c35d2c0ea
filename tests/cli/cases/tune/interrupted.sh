# Ctrl-C: what is on the disk is the result; without anything there, nothing is left.
need fatal matmul
mkdir temporary
export TMPDIR=$PWD/temporary
t="ounce tune matmul.onnx --data fatal.npz --budget 60s --no-cache"
$t -o small.onnx --json 2> human > document &
run=$!
while [ ! -e small.onnx ] && kill -0 $run; do sleep 0.02; done
sleep 0.2
kill -INT $run
wait $run && echo "exit $?"
json_get models.0.passed models.0.interrupted models.0.output < document
grep '^stopped' human
ounce verify matmul.onnx small.onnx --data fatal.npz --min-sqnr 30 > /dev/null
$t -o other.onnx > text 2>&1 &
run=$!
sleep 0.3
kill -INT $run
code=0
wait $run || code=$?
echo "exit $code"
cat text
ls
ls temporary | grep ounce || true
