need external
cp external.data before
exits 2 ounce repack external.onnx -o external.data
cmp external.data before
