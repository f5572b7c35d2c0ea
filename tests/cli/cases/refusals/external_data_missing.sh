need external
rm external.data
exits 2 ounce inspect external.onnx
exits 2 ounce quantize external.onnx
ls
