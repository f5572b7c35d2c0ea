need matmul conv lstm branches functions quantized trees ir3 external commands
mkdir copies
for model in *.onnx; do
  ounce repack $model -o copies/$model
  cmp $model copies/$model
done
cmp external.data copies/external.data
