need scores scores_far
ounce verify scores.onnx scores_far.onnx --data scores.npz --first 1 --samples 1 --labels label --no-edge-cases --worst 1
ounce verify scores.onnx scores_far.onnx --data scores.npz --batch 3 --input x=x --no-edge-cases --abs-tol 9 | grep -v passed
# Every other sample: the two parts have none in common.
ounce verify scores.onnx scores_far.onnx --data scores.npz --part 1/2 --no-edge-cases --json 2> /dev/null | json_get results.0.samples || true
ounce verify scores.onnx scores_far.onnx --data scores.npz --part 2/2 --no-edge-cases --json 2> /dev/null | json_get results.0.samples || true
for part in 0/2 3/2 1 1/ /2 a/b 1/2x -1/2; do exits 2 ounce verify scores.onnx scores_far.onnx --data scores.npz --part $part; done
