need signal
ounce quantize signal.onnx --to w4 --min-bytes 100 --fp16-budget 0 --node c=w16 --node y=fp32 --verbose
ounce quantize signal.onnx --to int8 --data signal.npz --no-search --no-reduce-range --node y=int8-dynamic --node c=fp32 --verbose
printf '[quantize]\nto = "int8"\ndata = ["signal.npz"]\nnode = ["y=int8-dynamic", "c=fp32"]\nsearch = false\nreduce-range = false\noutput = "again.onnx"\n' > ounce.toml
ounce --config ounce.toml quantize signal.onnx >/dev/null
cmp signal.int8.onnx again.onnx && echo same
