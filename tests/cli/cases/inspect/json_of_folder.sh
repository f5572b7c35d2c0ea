mkdir models
(cd models && need matmul trees text)
exits 2 ounce inspect models --json >info.json
json_shape <info.json >shape
json_get schema_version results.0.model errors.0.model errors.0.message results.1.blockers <info.json
