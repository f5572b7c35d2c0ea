# A candidate that was not compared has no differences, and not a difference of 0.
need scores scores_near
exits 4 ounce verify scores.onnx nowhere.onnx --json 2> /dev/null > document
json_get results errors.0.code errors.0.model < document
echo nothing > broken.onnx
exits 2 ounce verify scores.onnx scores_near.onnx broken.onnx --data scores.npz --abs-tol 1 --no-edge-cases --json 2> /dev/null > document
json_get results.0.passed results.0.max_abs_diff errors.0.code errors.0.model < document
exits 4 ounce quantize nowhere.onnx --json 2> /dev/null > document
json_get results errors.0.code < document
