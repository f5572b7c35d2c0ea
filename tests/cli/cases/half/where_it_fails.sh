# Made for no target, it is said where it will not run; with a target, what that lacks stays FP32.
need pooled
ounce quantize pooled.onnx --to fp16 | grep -e 'does not run in'
ounce quantize pooled.onnx --to fp16 --target android-arm64@1.22.0 | grep -e 'does not run in' -e 'in FP32'
