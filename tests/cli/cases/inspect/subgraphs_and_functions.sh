need branches functions
ounce inspect branches.onnx
ounce inspect functions.onnx
