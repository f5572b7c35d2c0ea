# In the same folder the copy uses the data that is there.
need external
ounce copy external.onnx -o copy.onnx
cmp external.onnx copy.onnx
ls
