# One line each, and exit 2 (4 for what is not there or cannot be written, 3 for what has no layers).
need fatal scores text
s="ounce sensitivity fatal.onnx"
exits 2 $s --to fp16 --data fatal.npz
exits 2 $s --by name --data fatal.npz
exits 2 $s --samples -1 --data fatal.npz
exits 2 $s --top many --data fatal.npz
exits 2 $s --min-sqnr nan --data fatal.npz
exits 2 $s --to int8
exits 2 $s --data fatal.npz --cache here --no-cache
exits 2 $s --data fatal.npz --labels nothing --no-cache
exits 4 $s --data nowhere.npz --no-cache
touch file
exits 4 $s --data fatal.npz --cache file/below
exits 2 ounce sensitivity text.onnx --to w8 --no-cache
exits 3 ounce sensitivity scores.onnx --to w8 --data scores.npz --no-cache
exits 4 ounce sensitivity nowhere.onnx --to w8 --no-cache
