# One line each, and exit 2 (3 where nothing can be done, 4 for what is not there or cannot be written).
need fatal chain trees scores opset6 nan text empty truncated
python3 - <<'END'
import struct
header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (8, 1), }".ljust(117) + b"\n"
open("trees.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack("<8f", *range(8)))
END
t="ounce tune fatal.onnx --data fatal.npz --no-cache"
exits 2 ounce tune fatal.onnx --no-cache
exits 2 $t -o fatal.onnx
ln fatal.onnx link.onnx
exits 2 $t -o link.onnx
for budget in 0 -3s abc 10x '' 5ms '5 s' nan inf 31d 1e9h '0 models' '-1 models' '1.5 models' '3 modelss' ' models' '2000000 models'; do exits 2 $t --budget "$budget"; done
exits 2 $t --objective fast
for drop in -1 nan abc 200% '5 %' 1e400; do exits 2 $t --labels label --max-drop "$drop"; done
exits 2 $t --min-sqnr nan
exits 2 $t --min-agreement 2
exits 2 $t --labels nothing
exits 2 $t --carry a=b
exits 2 $t --first 64
exits 2 ounce tune fatal.onnx --data chain.npz --no-cache
exits 2 ounce tune scores.onnx --data scores.nan.npz --no-cache
exits 2 ounce tune scores.onnx --data scores.empty.npz --no-cache
for model in text empty truncated nan; do exits 2 ounce tune $model.onnx --data fatal.npz --no-cache; done
exits 3 ounce tune trees.onnx --data trees.npy --budget '20 models' --no-cache
exits 4 ounce tune fatal.onnx --data nowhere.npz --no-cache
exits 4 ounce tune nowhere.onnx --data fatal.npz --no-cache
mkdir folder
exits 2 ounce tune folder --data fatal.npz --no-cache
touch file
exits 4 ounce tune fatal.onnx --data fatal.npz --cache file/below
exits 4 ounce tune fatal.onnx --data fatal.npz --cache /proc 2>&1 | sed "s/[0-9a-f.]*\.jsonl/<journal>/" >&2
exits 4 $t --min-sqnr 20 -o file/small.onnx
ls | grep -e tuned -e closest || true
