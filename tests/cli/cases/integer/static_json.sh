need signal
ounce quantize signal.onnx --to static --data signal.npz --no-search --no-reduce-range --json >result.json 2>/dev/null
json_shape <result.json
json_get models.0.nodes.0.name models.0.nodes.0.arithmetic models.0.activations.0.name models.0.activations.0.type \
  models.0.activations.0.method <result.json
