# A value that is moved and then used in a branch has no codes: runtimes abort on them.
need seen_from_branches fans
code=0
ounce quantize seen_from_branches.onnx --to int8 --data seen_from_branches.npz --set choice=1 || code=$?
echo "exit $code"
ounce tune seen_from_branches.onnx --data seen_from_branches.npz --set choice=1 --budget '6 models' --no-cache -o small.onnx > text
grep -c "crash on quantized values" text
ounce verify seen_from_branches.onnx small.onnx --data seen_from_branches.npz --set choice=1 > /dev/null && echo passed
rm -f text small*.onnx
# However many ways lead through a graph, planning takes few of them.

timeout 600 ounce quantize fans.onnx --to int8 --no-search --no-reduce-range --data fans.npz > /dev/null && echo planned
