# On the data it is the same model; far outside of it, it is not.
need scores scores_fragile
exits 1 ounce verify scores.onnx scores_fragile.onnx --data scores.npz
ounce verify scores.onnx scores_fragile.onnx --data scores.npz --no-edge-cases
