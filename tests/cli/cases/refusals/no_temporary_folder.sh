# A folder for temporary files that is not there is named, with the variable that names it.
need small_convs
export TMPDIR=/nonexistent
exits 4 ounce quantize small_convs.onnx --to int8 --data small_convs.npz -o out.onnx
ls
