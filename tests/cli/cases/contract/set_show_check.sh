need pixels
ounce contract set pixels.onnx -o with.onnx --contract pixels.toml --data pixels.png
ounce contract show with.onnx > shown
ounce contract check with.onnx --data pixels.png
ounce contract check with.onnx --data pixels.npz
