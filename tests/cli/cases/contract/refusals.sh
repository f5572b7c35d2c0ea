need pixels scores
exits 2 ounce contract show pixels.onnx
exits 2 ounce contract check pixels.onnx --data pixels.png
exits 2 ounce contract set pixels.onnx -o a.onnx
exits 2 ounce contract set pixels.onnx -o a.onnx --contract pixels.typo.json
exits 2 ounce contract set pixels.onnx -o pixels.onnx --contract pixels.toml
exits 2 ounce contract set scores.onnx -o a.onnx --contract pixels.toml
exits 2 ounce contract set pixels.onnx -o a.onnx --rescale 1/0
exits 2 ounce contract set pixels.onnx -o a.onnx --size 10x
exits 2 ounce contract set pixels.onnx -o a.onnx --mean 1,2 --kind image
ls
