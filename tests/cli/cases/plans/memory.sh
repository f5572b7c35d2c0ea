# --memory: which weights are decoded at every run, and why; the opset and the shapes have to allow it.
need conv small_convs ir3
ounce quantize conv.onnx -o small.onnx -v --memory fast
ounce quantize conv.onnx -o small.onnx -v --memory balanced --decode-share 60
ounce quantize conv.onnx -o small.onnx -v --memory low
ounce quantize conv.onnx -o small.onnx -v --memory low --to w4
ounce quantize small_convs.onnx -o small.onnx -v --memory balanced --no-verify --min-bytes 100 --fp16-budget 0
ounce quantize ir3.onnx -o small.onnx -v --memory low
