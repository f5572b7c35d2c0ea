need fatal
ounce sensitivity fatal.onnx --to w8 --data fatal.npz --labels label --no-cache --top 3 --json 2> /dev/null > document
json_shape < document
