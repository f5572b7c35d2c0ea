# One word for thresholds that depend on the precision of the weights. Thresholds that are given replace those of the set.
need commands matmul scores scores_far
ounce quantize commands.onnx -o commands.w8.onnx --no-verify 2> log
ounce quantize commands.onnx -o commands.w16.onnx --to w16 --no-verify 2> log
for kind in w8 w16; do
  ounce verify commands.onnx commands.$kind.onnx --task classify --gate standard --samples 8 --no-edge-cases | tail -n 1
done
ounce verify matmul.onnx matmul.onnx --gate standard --samples 4 --no-edge-cases | tail -n 1
exits 1 ounce verify scores.onnx scores_far.onnx --data scores.npz --labels label --gate standard --no-edge-cases | tail -n 1
exits 1 ounce verify scores.onnx scores_far.onnx --data scores.npz --gate standard --no-edge-cases | tail -n 1
ounce verify scores.onnx scores_far.onnx --data scores.npz --labels label --gate standard --max-drop 40% --no-edge-cases | tail -n 1
exits 2 ounce verify scores.onnx scores_far.onnx --gate strict
