need pixels
ounce contract set pixels.onnx -o a.onnx --contract pixels.toml > from_file
ounce contract set pixels.onnx -o a.onnx --kind image --rescale 1/128 --layout nchw > from_flags
cmp from_file from_flags
cat from_flags
