need lstm
for granularity in auto tensor channel block:16; do
  ounce quantize lstm.onnx -o small.onnx -v --to w4 --granularity $granularity
done
