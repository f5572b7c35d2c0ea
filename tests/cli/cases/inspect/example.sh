need commands
ounce inspect commands.onnx --tensors 3
