# --gate standard chooses the limit by the labels, and by the bits of the weights.
need scores scores_near scores_far
ounce quantize scores.onnx --to w16 --min-bytes 0 -o half.onnx > out
ounce quantize scores.onnx --min-bytes 0 -o bytes.onnx > out
for model in scores_far half bytes; do
  code=0
  ounce verify scores.onnx $model.onnx --data scores.npz --labels label --gate standard --no-edge-cases > out || code=$?
  echo "$model: exit $code, $(tail -n 1 out)"
done
ounce verify scores.onnx scores_near.onnx --data scores.npz --gate standard --no-edge-cases | tail -n 1
ounce verify scores.onnx scores_far.onnx --data scores.npz --labels label --gate standard --max-drop 40% --no-edge-cases | tail -n 1
exits 2 ounce tune scores.onnx --data scores.npz --gate standard -o tuned.onnx
exits 2 ounce verify scores.onnx scores_near.onnx --data scores.npz --gate strict
