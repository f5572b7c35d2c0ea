# What is said to reach 25 dB does.
need fatal
for format in w8 dynamic static; do
  options=$(ounce sensitivity fatal.onnx --to $format --data fatal.npz --cache kept --min-sqnr 25 | grep -e '--exclude')
  eval "ounce quantize fatal.onnx $options --data fatal.npz --half-share 0 -o small.onnx" > /dev/null
  ounce verify fatal.onnx small.onnx --data fatal.npz --min-sqnr 25 --no-edge-cases > /dev/null
done
