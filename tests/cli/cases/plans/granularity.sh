need matmul
for granularity in tensor channel block:16 block:32 block:64; do
  ounce quantize matmul.onnx -o small.onnx -v --granularity $granularity
done
