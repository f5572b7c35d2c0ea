# Numbers that a format cannot hold are the model's, and no bug of ours: exit 2 or 3, or they are left alone.
need enormous denormal broken_bias two_versions far_version
exits 3 ounce quantize enormous.onnx --to w4
exits 3 ounce quantize denormal.onnx
ounce quantize denormal.onnx --to int8-dynamic --min-bytes 0 > printed
exits 3 ounce quantize broken_bias.onnx --to fp16
exits 2 ounce quantize two_versions.onnx
exits 2 ounce quantize far_version.onnx
ls
