# Ranges of a TFLite model: those of two parts are those of all data, and quantize takes them.
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
ounce calibrate example.tflite --data x.npy -o all.ranges > /dev/null
for part in 1 2; do ounce calibrate example.tflite --data x.npy --shard $part/2 -o $part.ranges > /dev/null; done
ounce calibrate merge 1.ranges 2.ranges -o both.ranges > /dev/null
ounce quantize example.tflite --to int8 --ranges all.ranges --no-verify -o a.tflite > /dev/null
ounce quantize example.tflite --to int8 --ranges both.ranges --no-verify -o b.tflite > /dev/null
cmp a.tflite b.tflite
need small
exits 2 ounce quantize small.tflite --to int8 --ranges all.ranges --no-verify
exits 2 ounce calibrate example.tflite
