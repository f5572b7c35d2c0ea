# The accuracy falls from 8 of 8 to 5 of 8: too much for one gate, allowed by the other.
need scores scores_far
exits 1 ounce verify scores.onnx scores_far.onnx --data scores.npz --labels label --max-drop 0.5% --no-edge-cases
ounce verify scores.onnx scores_far.onnx --data scores.npz --labels label --max-drop 40% --no-edge-cases | sed -n 2p
exits 1 ounce verify scores.onnx scores_far.onnx --data scores.npz --labels label --metric f1 --max-drop 0.1 --no-edge-cases | sed -n 2p
exits 1 ounce verify scores.onnx scores_far.onnx --data scores.npz --labels label --metric nll --max-drop 0.1 --no-edge-cases | sed -n 2p
