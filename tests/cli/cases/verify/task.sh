# Without labels the original's boxes, classes and numbers are the truth.
need detector detector_noisy detector_blind scores scores_near scores_far
for candidate in detector_noisy detector_blind; do
  code=0
  ounce verify detector.onnx $candidate.onnx --data detector.npz --no-edge-cases --task detect --max-drop 1% > out || code=$?
  grep '^map' out
  echo "exit $code, $(sed -n 2p out)"
done
for task in classify regress embed; do
  ounce verify scores.onnx scores_near.onnx --data scores.npz --no-edge-cases --task $task --min-sqnr 0 > out
  sed -n '/^metric/,/^largest/p' out | grep -v '^---\|^largest'
done
exits 1 ounce verify scores.onnx scores_far.onnx --data scores.npz --no-edge-cases --task classify --max-drop top1_accuracy=1% > out
sed -n 2p out
exits 1 ounce verify scores.onnx scores_near.onnx --data scores.npz --no-edge-cases --task classify --max-drop f1=1% > out
sed -n 2p out
exits 2 ounce verify scores.onnx scores_near.onnx --data scores.npz --task tag
exits 2 ounce verify scores.onnx scores_near.onnx --data scores.npz --task detection
exits 2 ounce verify scores.onnx scores_near.onnx --data scores.npz --task classify --max-drop top1_accuracy=
