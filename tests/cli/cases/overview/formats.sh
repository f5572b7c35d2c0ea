# 'ounce MODEL' shows what can be gained, for every kind of model, and writes nothing.
need commands matmul lstm trees
for model in commands matmul lstm trees; do
  echo "== $model"
  ounce $model.onnx
done
ls
