# Boxes are close and hide scores that are not: the slice is named, and decides.
need detector detector_noisy detector_blind
for gate in '' '--min-sqnr 4' '--min-sqnr 30' '--abs-tol 1'; do
  code=0
  ounce verify detector.onnx detector_noisy.onnx --data detector.npz --no-edge-cases $gate > out || code=$?
  grep '^worst output part' out
  echo "$gate: exit $code, $(sed -n 2p out)"
done
ounce verify detector.onnx detector_noisy.onnx --data detector.npz --no-edge-cases --json 2>/dev/null > document || true
json_get results.0.outputs.0.slices.0.name results.0.outputs.0.slices.0.axis results.0.outputs.0.slices.0.ranges < document
json_get results.0.outputs.0.slices.0.values results.0.outputs.0.slices.1.name < document
