need signal
ounce quantize signal.onnx --to int8 --data signal.npz --no-search --no-reduce-range --value x=-2:2 --value b=minmax --value d=float
printf '[quantize]\nto = "int8"\ndata = ["signal.npz"]\nvalue = ["x=-2:2", "b=minmax", "d=float"]\nsearch = false\nreduce-range = false\noutput = "again.onnx"\n' > ounce.toml
ounce --config ounce.toml quantize signal.onnx >/dev/null
cmp signal.int8.onnx again.onnx && echo same
