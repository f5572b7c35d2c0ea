need tiny_layers
exits 3 ounce quantize tiny_layers.onnx --to int8-dynamic --min-bytes 0 --on none 2>&1 | sed 's/[0-9.]*×/<speed>/g'
[ ! -e tiny_layers.int8-dynamic.onnx ]
ounce quantize tiny_layers.onnx --to int8-dynamic --min-bytes 0 --on none --allow-slower | grep -c "note: the INT8 model runs at"
