# What 16 bits cannot hold is kept, and the reason says so.
need huge_values
ounce quantize huge_values.onnx --to w16 --verbose
