need signal
for types in "u8 s8" "s8 s8" "u8 u8"; do
  for dialect in qdq qoperator; do
    set -- $types
    ounce quantize signal.onnx --to int8 --data signal.npz --no-search --no-reduce-range --dialect $dialect \
      --activations $1 --weights $2 -o $dialect.onnx >/dev/null
    ounce verify signal.onnx $dialect.onnx --data signal.npz --no-edge-cases --min-sqnr 30 >/dev/null && echo $types $dialect passed
  done
done
