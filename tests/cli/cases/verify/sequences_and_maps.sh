# Outputs that are no tensors are compared by the numbers in them.
need zipmap parts
ounce quantize zipmap.onnx --json 2> /dev/null | json_get results.0.trial.tried results.0.trial.samples
ounce verify zipmap.onnx zipmap.w8.onnx --data zipmap.npz --no-edge-cases --json 2> /dev/null > document
json_get results.0.passed results.0.outputs.0.name results.0.outputs.1.name results.0.outputs.1.type results.0.outputs.1.values \
  results.0.outputs.1.top1_agreement < document
ounce quantize parts.onnx > /dev/null
ounce verify parts.onnx parts.w8.onnx --json 2> /dev/null | json_get results.0.passed results.0.outputs.0.type results.0.edge_cases.0.passed
ounce verify zipmap.onnx parts.onnx 2>&1 || echo "exit $?"
