# A classifier that gives labels: one of forty that changes is no difference of 1.
need classifier classifier_near classifier_far
v="ounce verify classifier.onnx classifier_near.onnx --data classifier.npz --no-edge-cases"
$v
for gate in '--abs-tol 0.04 --mean-tol 0.01' '--min-agreement 99%' '--min-agreement 95%' '--threshold 0.5 --max-flips 5%' \
  '--threshold 0.5 --max-flips 1%' '--labels proba --task regress'; do
  code=0
  $v $gate > out || code=$?
  echo "$gate: exit $code, $(sed -n 2p out)"
done
exits 1 ounce verify classifier.onnx classifier_far.onnx --data classifier.npz --no-edge-cases --abs-tol 1 > out
sed -n 2p out
$v --threshold 0.5 --json 2> /dev/null > document
json_get results.0.agreement results.0.outputs.0.labels results.0.outputs.0.answers_compared results.0.outputs.0.answers_changed \
  results.0.outputs.0.top1_agreement results.0.outputs.0.max_abs_diff results.0.outputs.0.sqnr_db results.0.outputs.1.labels \
  results.0.outputs.1.flips results.0.outputs.1.decisions < document
