# Kernels for few bits are for MatMul and Gather: of a CNN, a note counts the layers that keep FP32 arithmetic.
need commands matmul
ounce quantize commands.onnx --to nbits8 --no-verify | grep note
ounce quantize commands.onnx --to nbits8 --no-verify --json | json_get results.0.notes.0
exits 1 sh -c "ounce quantize matmul.onnx --to nbits8 --no-verify | grep kernels"
