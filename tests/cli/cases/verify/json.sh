need scores scores_near
ounce verify scores.onnx scores_near.onnx --data scores.npz --labels label --json --threshold 0.5 2>human > document
sed -n 2p human
json_shape < document
json_get results.0.passed results.0.max_abs_diff results.0.mean_abs_diff results.0.outputs.0.flips results.0.metrics.0.drop < document
