# What is done to the model later keeps the contract, and every verb follows it: the data is pixels, the input floats.
need pixels matmul
ounce contract set matmul.onnx -o with.onnx --for x --rescale 1/2 > /dev/null
ounce quantize with.onnx -o small.onnx > /dev/null
ounce contract show small.onnx
ounce contract set pixels.onnx -o with.onnx --contract pixels.toml > /dev/null
ounce verify with.onnx with.onnx --data pixels.npz --no-edge-cases | sed -n 2p
