need scores
ounce calibrate scores.onnx --data scores.npz --samples 2 > /dev/null
cat scores.ranges
