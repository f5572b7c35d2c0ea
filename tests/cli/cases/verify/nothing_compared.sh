# A candidate that was not compared has no differences, and not a difference of 0.
need scores scores_near
exits 4 ounce verify scores.onnx nowhere.onnx --json 2> /dev/null > document
json_get passed max_abs_diff mean_abs_diff < document
echo nothing > broken.onnx
exits 2 ounce verify scores.onnx scores_near.onnx broken.onnx --data scores.npz --abs-tol 1 --no-edge-cases --json 2> /dev/null > document
json_get passed max_abs_diff mean_abs_diff candidates.0.max_abs_diff < document
exits 4 ounce quantize nowhere.onnx --json 2> /dev/null > document
json_get ratio failed < document
