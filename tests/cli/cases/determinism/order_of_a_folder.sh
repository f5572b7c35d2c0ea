# A model's result does not depend on the models beside it.
mkdir models
(cd models && need matmul conv lstm)
ounce quantize models -o all >/dev/null
for model in matmul conv lstm; do
  ounce quantize models/$model.onnx -o alone.onnx >/dev/null
  cmp alone.onnx all/$model.onnx
done
