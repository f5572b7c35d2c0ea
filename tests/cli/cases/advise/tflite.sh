# A TFLite model: only the formats that it can have are tried.
need example
python3 - <<'END'
import math, struct
samples, length = 24, 8000
values = [math.sin((40 + 9 * i) * (i % 3 + 1) * t / length) * (i + 1) / samples for i in range(samples) for t in range(length)]
header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({samples}, {length}, 1), }}"
header += " " * (-(10 + len(header) + 1) % 64) + "\n"
with open("x.npy", "wb") as out:
    out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values))
END
ounce advise example.tflite --data x.npy --budget 20s --json 2> /dev/null > out.json
json_get results.0.family.name results.0.samples < out.json
python3 - <<'END'
import json
advice = json.load(open("out.json"))["results"][0]
for method in advice["methods"]:
    assert method["measured"] or method["why_not"], method
print(sorted(method["method"] for method in advice["methods"]))
END
