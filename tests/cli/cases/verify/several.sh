need scores scores_near scores_far text
exits 2 ounce verify scores.onnx scores_near.onnx scores_far.onnx text.onnx --data scores.npz --labels label --max-drop 1% --no-edge-cases > out
grep -v '^Next: ' out | tail -n 7
