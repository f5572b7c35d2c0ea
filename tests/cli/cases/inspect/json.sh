# One document on stdout; what people read goes to stderr.
need matmul
ounce inspect matmul.onnx --json >info.json
json_shape <info.json
json_get schema_version verb models.0.bytes models.0.bytes_after models.0.inputs.0 models.0.tensors.0.name <info.json
