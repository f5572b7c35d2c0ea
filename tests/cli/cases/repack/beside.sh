# In the same folder the copy uses the data that is there.
need external
ounce repack external.onnx -o copy.onnx
cmp external.onnx copy.onnx
ls
