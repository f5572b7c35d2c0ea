need scores
ounce calibrate scores.onnx --data scores.npz --json 2>human | json_shape
