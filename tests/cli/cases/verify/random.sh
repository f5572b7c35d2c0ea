# Without data inputs are made up, and it says so.
need scores
ounce verify scores.onnx scores.onnx --samples 3 --seed 7
