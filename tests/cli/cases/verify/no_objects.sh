# Pictures in which a detector finds nothing: its scores below the threshold decide nothing.
need detector detector_blind
v="ounce verify detector.onnx detector_blind.onnx --data detector.empty.npz --no-edge-cases --task detect"
$v
$v --min-sqnr 30 > out
sed -n 2p out
exits 1 $v --max-drop 1% > out
sed -n 2p out
exits 1 $v --abs-tol 0.01 > out
sed -n 2p out
$v --json 2> /dev/null > document
json_get results.0.passed results.0.metrics.0.reference results.0.metrics.0.drop results.0.metrics.0.drop_low results.0.metrics.0.why_not \
  results.0.outputs.0.sqnr_db results.0.outputs.0.values results.0.outputs.0.silent_values < document
# With a threshold that these scores reach, they count.
$v --threshold 0.02 > out
sed -n 2p out
