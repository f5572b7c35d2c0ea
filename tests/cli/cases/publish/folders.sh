# A folder in that layout is a model to every verb; of several it says which.
need matmul
mkdir -p hub/onnx
cp matmul.onnx hub/onnx/model.onnx
ounce publish hub -o out --no-bench --no-edge-cases --variants fp32,q8 > /dev/null
ounce inspect hub | head -n 1
ounce repack out -o copy.onnx > /dev/null
cmp copy.onnx matmul.onnx
ounce verify out out --no-edge-cases | grep -v '^Next: ' | tail -n 4 | cut -c 1-29
ounce quantize out --dry-run | grep note: | grep -v '^Next: ' | tail -n 1
cp matmul.onnx out/onnx/decoder.onnx
exits 2 ounce repack out -o copy.onnx
exits 2 ounce verify out matmul.onnx
