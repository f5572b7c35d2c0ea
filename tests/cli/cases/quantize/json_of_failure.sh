# A document all the same, so that a script can read why.
need text
exits 2 ounce quantize text.onnx --json >result.json
json_shape <result.json
json_get schema_version results errors.0.code errors.0.message errors.0.model <result.json
