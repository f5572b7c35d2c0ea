# What the samples show about others: a line without --confidence, the verdict with it.
need scores scores_near
v='ounce verify scores.onnx scores_near.onnx --data scores.npz --no-edge-cases'
$v --min-agreement 60% | sed -n 2,3p
$v --min-agreement 90% | sed -n 2,3p
exits 1 $v --min-agreement 90% --confidence 90% | sed -n 2p
$v --min-agreement 60% --confidence 90% | sed -n 2p
exits 1 $v --min-agreement 100% --confidence 90% | sed -n 2p
$v --min-sqnr 20 --confidence 95% --json 2> /dev/null > document
json_get results.0.confidence results.0.certain results.0.samples_needed < document
# Made-up inputs show nothing about other data.
ounce verify scores.onnx scores_near.onnx --no-edge-cases --min-agreement 50% --confidence 90% | sed -n 2p
exits 2 $v --confidence 100%
exits 2 $v --confidence 40%
exits 2 $v --confidence 90
exits 2 $v --confidence sure
