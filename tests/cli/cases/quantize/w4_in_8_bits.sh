# An opset that cannot unpack 4 bits: stored in 8, and called so.
need ir3 matmul
ounce quantize ir3.onnx --to w4
ls ir3.*
ounce quantize ir3.onnx matmul.onnx --to w4 -o out --json 2> /dev/null | json_get results.0.format results.0.stored_as results.1.stored_as
