# What more bits bring is measured once, kept, and spent for any budget; measurements are put together.
need chaotic matmul
make='ounce quantize chaotic.onnx --to nbits4 --no-verify --method rtn --accuracy-level 1'
notes() { grep -E 'note|ounce' || true; }
$make --bits 9 --data chaotic.npz --importance one.json -o a.onnx 2>&1 | notes | sed -E 's/SQNR [-0-9.]+ → [-0-9.]+ dB/SQNR # → # dB/'
$make --bits 6 --importance one.json -o b.onnx 2>&1 | notes
ounce calibrate merge one.json one.json -o both.json
json_get samples layers.product.weights < both.json
$make --target-size 20KB --importance both.json -o c.onnx 2>&1 | notes
$make --target-size 2KB --importance both.json -o d.onnx 2>&1 || echo $?
$make --target-size 20KB --bits 5 -o d.onnx 2>&1 || echo $?
ounce quantize matmul.onnx --to nbits4 --bits 9 --importance both.json -o d.onnx 2>&1 || echo $?
ounce calibrate merge one.json chaotic.npz -o e.json 2>&1 || echo $?
ls
