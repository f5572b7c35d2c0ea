need text empty truncated
for model in text empty truncated; do
  exits 2 ounce inspect $model.onnx
  exits 2 ounce quantize $model.onnx
  exits 2 ounce repack $model.onnx -o copy.onnx
done
ls
