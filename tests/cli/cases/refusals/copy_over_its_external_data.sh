need external
cp external.data before
exits 2 ounce copy external.onnx -o external.data
cmp external.data before
