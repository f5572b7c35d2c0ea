# The same answer from processes of their own.
need scores scores_near
ounce verify scores.onnx scores_near.onnx --data scores.npz --no-edge-cases > here
ounce verify scores.onnx scores_near.onnx --data scores.npz --no-edge-cases --isolate > there
cmp here there
