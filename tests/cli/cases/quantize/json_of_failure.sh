# A document all the same, so that a script can read why.
need text
exits 2 ounce quantize text.onnx --json >result.json
json_shape <result.json
json_get schema_version failed models.0.exit_code models.0.error <result.json
