need signal
ounce quantize signal.onnx --to int8 --data signal.npz --no-search --no-reduce-range --json >result.json 2>/dev/null
json_shape <result.json
json_get results.0.nodes.0.name results.0.nodes.0.arithmetic results.0.activations.0.name results.0.activations.0.type \
  results.0.activations.0.method <result.json
