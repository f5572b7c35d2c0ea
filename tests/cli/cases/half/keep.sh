need signal
ounce quantize signal.onnx --to fp16 --target cuda --keep-fp32 '^first$' --keep-fp32 Gemm
ounce quantize signal.onnx --to fp16 --target cuda --keep-fp32 nothing || echo "exit $?"
