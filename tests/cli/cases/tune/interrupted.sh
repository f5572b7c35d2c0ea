# Ctrl-C: what is on the disk is the result; without anything there, nothing is left.
need fatal matmul
mkdir temporary
export TMPDIR=$PWD/temporary
t="ounce tune matmul.onnx --data fatal.npz --budget 10m --no-cache"
$t -o small.onnx --json 2> human > document &
run=$!
while [ ! -e small.onnx ] && kill -0 $run; do sleep 0.02; done
sleep 0.2
kill -INT $run
wait $run && echo "exit $?"
json_get results.0.passed results.0.interrupted results.0.output < document
grep '^interrupted' human
ounce verify matmul.onnx small.onnx --data fatal.npz --min-sqnr 30 > /dev/null
ls temporary | grep ounce || true
# A gate that nothing passes: until the end nothing is written.
$t --min-sqnr 300 -o other.onnx > text 2>&1 &
run=$!
while ! ls temporary | grep -q ounce && kill -0 $run; do sleep 0.02; done
kill -INT $run
code=0
wait $run || code=$?
echo "exit $code"
cat text
ls
ls temporary | grep ounce || true
