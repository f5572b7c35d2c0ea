# The contract was made with pixels that become 0 … 1.4; these go from -128 to 48.
need pixels
ounce contract set pixels.onnx -o with.onnx --contract pixels.toml --data pixels.npz > /dev/null
ounce contract set pixels.onnx -o other.onnx --for image --kind tensor > /dev/null
exits 2 ounce verify with.onnx with.onnx --data pixels.floats.npz
ounce contract show with.onnx | sed 's/"kind": "image"/"kind": "tensor"/' > changed.json
ounce contract set pixels.onnx -o changed.onnx --contract changed.json > /dev/null
exits 2 ounce verify changed.onnx changed.onnx --data pixels.floats.npz
exits 1 ounce contract check changed.onnx --data pixels.floats.npz
