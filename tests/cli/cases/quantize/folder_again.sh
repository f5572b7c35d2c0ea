# The results of the first run are no models for the second.
mkdir models
(cd models && need matmul conv)
cp -r models others
ounce quantize models >/dev/null
ounce quantize models
exits 2 ounce quantize models/matmul.onnx models/matmul.w8.onnx
ounce quantize others -o others/small >/dev/null
ounce quantize others -o others/small
find models others | sort
