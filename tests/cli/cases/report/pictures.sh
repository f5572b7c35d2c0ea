# Samples go into JSON only if somebody asks for them.
need scores scores_near
v="ounce verify scores.onnx scores_near.onnx --data scores.npz --labels label --no-edge-cases --worst 1 --json"
$v 2> human | json_get results.0.worst.0.answers results.0.worst.0.picture results.0.worst.0.label
$v --pictures 2> human | json_get results.0.worst.0.answers.0.class
$v --pictures 2> human | json_get results.0.worst.0.label
need matmul
ounce quantize matmul.onnx -o small.onnx --json 2> human | json_get results.0.tensors.0.histogram
ounce quantize matmul.onnx -o small.onnx --pictures --json 2> human > run.json
json_get results.0.tensors.0.histogram.counts.0 < run.json
# inspect has a report, too.
ounce inspect matmul.onnx --report inspect.html > human
grep -o '<h1>.*</h1>' inspect.html | sed 's/[0-9.]* k*B/<size>/g'
