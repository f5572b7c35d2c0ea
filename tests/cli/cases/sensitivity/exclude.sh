# What is said to reach 25 dB does, and what is left out is stored small if its weights allow for it.
need fatal
for format in w8 int8-dynamic int8; do
  options=$(ounce sensitivity fatal.onnx --to $format --data fatal.npz --cache kept --min-sqnr 25 | grep -e '--node')
  eval "ounce quantize fatal.onnx $options --data fatal.npz --fp16-budget 0 -o small.onnx --json" 2> /dev/null > document
  python3 -c 'import json; print([t["encoding"] for t in json.load(open("document"))["results"][0]["tensors"] if t["stored"] and len(t["shape"]) > 1])'
  ounce verify fatal.onnx small.onnx --data fatal.npz --min-sqnr 25 --no-edge-cases > /dev/null
done
