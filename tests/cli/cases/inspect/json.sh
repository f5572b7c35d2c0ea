# One document on stdout; what people read goes to stderr.
need matmul
ounce inspect matmul.onnx --json >info.json
json_shape <info.json
json_get schema_version verb results.0.bytes results.0.bytes_after results.0.inputs.0 results.0.tensors.0.name <info.json
