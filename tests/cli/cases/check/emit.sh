need signal
ounce quantize signal.onnx --to int8 --data signal.npz --no-search --no-reduce-range --emit ort | sed 's/ort: [0-9.]* [kM]*B/ort: <size>/'
ls signal.int8.*
ounce quantize signal.onnx --to w8 --min-bytes 16 --emit ort | grep note
ounce repack signal.onnx -o copied.onnx --emit ort --ort-style runtime | sed 's/ort: [0-9.]* [kM]*B/ort: <size>/'
cat copied.required_operators.config
