# What an app gave its model, against what the contract makes of the picture.
need pixels
ounce contract set pixels.onnx -o with.onnx --contract pixels.toml > /dev/null
python3 - <<'P'
import struct
def dump(name, values):
    open(name, "wb").write(struct.pack(f"<{len(values)}f", *values))
ramp = [16 * n for n in range(12)]
planes = [ramp[3 * p + c] / 128 for c in range(3) for p in range(4)]
dump("right.bin", planes)
dump("near.bin", [value + 0.01 for value in planes])
dump("swapped.bin", planes[8:] + planes[4:8] + planes[:4])
dump("turned.bin", [value / 128 for value in ramp])
dump("scaled.bin", [value * 128 / 255 for value in planes])
dump("other.bin", [(7 * n) % 12 / 12 for n in range(12)])
dump("short.bin", planes[:5])
P
for name in right near swapped turned scaled other; do
  ounce contract check with.onnx --data pixels.png --dump $name.bin | grep -v golden || echo "exit $?"
done
ounce contract check with.onnx --data pixels.png --dump image=right.bin --json 2> /dev/null | json_get results.0.passed results.0.findings
ounce contract check with.onnx --data pixels.png --dump swapped.bin > /dev/null || echo "exit $?"
exits 2 ounce contract check with.onnx --data pixels.png --dump short.bin
exits 2 ounce contract check with.onnx --data pixels.png --dump nothing=right.bin
