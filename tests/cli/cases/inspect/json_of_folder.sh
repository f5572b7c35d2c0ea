mkdir models
(cd models && need matmul trees text)
exits 2 ounce inspect models --json >info.json
json_shape <info.json >shape
json_get schema_version models.0.model models.0.exit_code models.1.model models.1.error models.2.blockers <info.json
