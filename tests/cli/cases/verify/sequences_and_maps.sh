# Outputs that are no tensors are compared by the numbers in them.
need zipmap parts
ounce quantize zipmap.onnx --json 2> /dev/null | json_get models.0.trial.tried models.0.trial.samples
ounce verify zipmap.onnx zipmap.w8.onnx --data zipmap.npz --no-edge-cases --json 2> /dev/null > document
json_get passed candidates.0.outputs.0.name candidates.0.outputs.1.name candidates.0.outputs.1.type candidates.0.outputs.1.values \
  candidates.0.outputs.1.top1_agreement < document
ounce quantize parts.onnx > /dev/null
ounce verify parts.onnx parts.w8.onnx --json 2> /dev/null | json_get passed candidates.0.outputs.0.type candidates.0.edge_cases.0.passed
ounce verify zipmap.onnx parts.onnx 2>&1 || echo "exit $?"
