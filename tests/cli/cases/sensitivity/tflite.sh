# Layers of a TFLite model are its operators with weights. What is left out makes the model good enough.
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
ounce sensitivity example.tflite --to w8 --data x.npy --no-cache --top 3 --json 2> /dev/null > document
json_get results.0.groups.0.measured results.0.groups.0.op_type results.0.measured < document
options=$(ounce sensitivity example.tflite --to int8-dynamic --data x.npy --no-cache --top 3 --min-sqnr 20 | grep -e '--node' || true)
eval "ounce quantize example.tflite --to int8-dynamic $options --data x.npy -o small.tflite" > /dev/null
