# Rows that are decoded at each lookup: all formats pass the gate, and are slower. That is what the last lines have to say.
need embedding
python3 - <<'END'
import struct
header = b"{'descr': '<i8', 'fortran_order': False, 'shape': (16,), }".ljust(117) + b"\n"
open("ids.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack("<16q", *range(16)))
END
exits 1 ounce tune embedding.onnx --data ids.npy --budget 3s --no-cache -o small.onnx > text
[ ! -e small.onnx ]
[ -e small.closest.onnx ]
grep -c 'passed, but slower' text | sed 's/[1-9][0-9]*/some/'
tail -n 2 text | grep -q 'slower' || echo "the last lines do not say that it is slower"
