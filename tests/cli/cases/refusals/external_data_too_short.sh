need external
truncate -s 20000 external.data
exits 2 ounce quantize external.onnx
ls
