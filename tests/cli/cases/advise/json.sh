need trees
ounce advise trees.onnx --json 2>human | json_shape
grep -c "do not quantize" human
