# The same search on a TFLite model: what it writes is a TFLite model that meets the bound.
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
ounce tune example.tflite --data x.npy --min-sqnr 20 --confidence none --budget '40 models' --no-cache --json 2> /dev/null > document
json_get results.0.passed results.0.best.passed results.0.output < document
python3 - <<'END'
import json
result = json.load(open("document"))["results"][0]
print("smaller:", result["best"]["bytes"] < 0.5 * result["bytes_before"])
print("tried:", sorted({trial["name"].split(",")[0] for trial in result["trials"]}))
print("has layers:", len(result["layers"]) > 10)
END
ounce verify example.tflite example.tuned.tflite --data x.npy --min-sqnr 20 > /dev/null
exits 3 ounce tune example.tuned.tflite --data x.npy
