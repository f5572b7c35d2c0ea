# What stops quantize is said, and is no failure of inspect.
need trees nan opset6
ounce inspect trees.onnx
ounce inspect nan.onnx
ounce inspect opset6.onnx
