need matmul
ounce quantize matmul.onnx --json >result.json
json_shape <result.json
json_get schema_version verb dry_run failed models.0.exit_code models.0.output models.0.bytes_before models.0.bytes_after \
  models.0.tensors.0.name models.0.tensors.0.encoding models.0.tensors.1.reason <result.json
