# Dynamic axes get fixed lengths. A provider that needs fixed shapes then takes the nodes; the outputs stay the same.
need commands
ounce check commands.onnx --target android-arm64@1.22.0+nnapi --json > before.json 2> log
ounce repack commands.onnx -o fixed.onnx --shape N=1 --json > copied.json 2> log
sed -n '/"ports"/,/]/p' copied.json
ounce check fixed.onnx --target android-arm64@1.22.0+nnapi --json > after.json 2> log
python3 - << 'PY'
import json
taken = [json.load(open(f))["results"][0]["hints"][0]["taken"] for f in ("before.json", "after.json")]
print("more nodes are taken:", taken[0] < taken[1])
PY
ounce verify commands.onnx fixed.onnx --shape N=1 --no-edge-cases --samples 2 | head -1
ounce inspect fixed.onnx | grep put
exits 2 ounce repack commands.onnx -o no.onnx --shape M=1
exits 2 ounce repack commands.onnx -o no.onnx --shape N=0
ounce quantize commands.onnx -o small.onnx --no-verify 2> log
exits 3 ounce repack small.onnx -o no.onnx --shape N=1
ls *.onnx
