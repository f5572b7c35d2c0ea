# Only the outputs that are named are judged; a name that there is not is found before anything is done.
need classifier classifier_near classifier_far
v="ounce verify classifier.onnx classifier_far.onnx --data classifier.npz --no-edge-cases"
exits 1 $v --outputs label > out
sed -n '2,5p;$p' out
exits 1 $v --outputs probabilities --abs-tol 0.04 > out
sed -n 2p out
$v --outputs probabilities --abs-tol 0.5
$v --outputs label,probabilities --min-agreement 50% > out
sed -n 2p out
$v --outputs label --outputs probabilities --min-agreement 50% --json 2> /dev/null > document
json_get results.0.outputs.0.judged results.0.outputs.1.judged < document
exits 1 $v --outputs label --abs-tol 1 --json 2> /dev/null > document
json_get results.0.max_abs_diff results.0.outputs.1.judged results.0.worst.0.answers_changed results.0.worst.0.max_abs_diff < document
exits 2 ounce verify classifier.onnx classifier_far.onnx --data classifier.npz --outputs probs
exits 2 ounce tune classifier.onnx --data classifier.npz --outputs label,probs
exits 2 ounce advise classifier.onnx --data classifier.npz --outputs probs
exits 2 ounce sensitivity classifier.onnx --data classifier.npz --outputs probs
exits 2 ounce publish classifier.onnx -o published --data classifier.npz --outputs probs
