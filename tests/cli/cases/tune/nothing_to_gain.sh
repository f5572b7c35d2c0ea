# A model whose weights another program has stored in 8 bits: nothing can be gained, and nothing is written.
need commands
python3 - <<'END'
import array, math, struct
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (8, 1, 8000), }".ljust(117) + "\n"
sound = array.array("f", (.3 * math.sin(n * (1 + n // 8000) / 40) for n in range(8 * 8000)))
open("tones.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + sound.tobytes())
END
ounce quantize commands.onnx --to w8 --no-verify -o small.onnx > /dev/null 2>&1
python3 - <<'END'  # by another program, as far as its metadata tell
small = open("small.onnx", "rb").read()
open("small.onnx", "wb").write(small.replace(b"ounce.", b"other."))
END
exits 3 ounce tune small.onnx --data tones.npy --min-sqnr 20 --confidence none --budget '1 models' --no-cache -o tuned.onnx 2> said
cat said
ls *.onnx
