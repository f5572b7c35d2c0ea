need external
rm external.data
exits 4 ounce inspect external.onnx
exits 4 ounce quantize external.onnx
ls
