need external
ounce inspect external.onnx
