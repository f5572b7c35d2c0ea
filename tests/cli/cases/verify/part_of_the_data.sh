need scores scores_far
ounce verify scores.onnx scores_far.onnx --data scores.npz --first 1 --samples 1 --labels label --no-edge-cases --worst 1
ounce verify scores.onnx scores_far.onnx --data scores.npz --batch 3 --input x=x --no-edge-cases --abs-tol 9 | grep -v passed
