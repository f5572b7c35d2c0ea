# What is said to reach 25 dB does, and what is left out is stored small all the same.
need fatal
for format in w8 dynamic static; do
  options=$(ounce sensitivity fatal.onnx --to $format --data fatal.npz --cache kept --min-sqnr 25 | grep -e '--node')
  eval "ounce quantize fatal.onnx $options --data fatal.npz --half-share 0 -o small.onnx" > /dev/null
  ounce inspect small.onnx --json 2> /dev/null | grep -c '"type": "float32"' > /dev/null || echo "$format: all weights are codes"
  ounce verify fatal.onnx small.onnx --data fatal.npz --min-sqnr 25 --no-edge-cases > /dev/null
done
