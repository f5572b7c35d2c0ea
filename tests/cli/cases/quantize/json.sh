need matmul
ounce quantize matmul.onnx --json >result.json
json_shape <result.json
json_get schema_version verb command errors results.0.dry_run results.0.output results.0.bytes_before results.0.bytes_after \
  results.0.tensors.0.name results.0.tensors.0.encoding results.0.tensors.1.reason <result.json
