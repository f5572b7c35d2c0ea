# A format has one name; its aliases are accepted, and files and results have the name.
need signal matmul
for name in static int8-static int8; do
  ounce quantize signal.onnx --to $name --data signal.npz --no-search --no-reduce-range --json 2> /dev/null | json_get results.0.format results.0.output
done
for name in dynamic int8-dynamic int4 nbits4 int2 nbits2 nbits8; do
  ounce quantize matmul.onnx --to $name --dry-run --json 2> /dev/null | json_get results.0.format results.0.output
done
# The same where single nodes, a configuration file, --expert and a statement name a format.
ounce quantize matmul.onnx --node product=int4 -o node.onnx > /dev/null
ounce prove node.onnx | grep -e 'written by' -e '^  command'
printf '[quantize]\nto = "dynamic"\n' > ounce.toml
ounce --config ounce.toml quantize matmul.onnx --dry-run --json 2> /dev/null | json_get results.0.format
ounce quantize matmul.onnx --expert format=dynamic --dry-run --json 2> /dev/null | json_get results.0.format
ounce sensitivity matmul.onnx --to dynamic --no-cache --top 1 --json 2> /dev/null | json_get results.0.format
# INT8 needs data, and says what does not.
exits 2 ounce quantize signal.onnx --to int8
exits 2 ounce quantize matmul.onnx --to statik
exits 2 ounce quantize matmul.onnx --to nbits3
exits 2 ounce quantize matmul.onnx --node product=nbit4
ls *.onnx
