need scores
ounce verify scores.onnx scores.onnx --data scores.npz --labels label
