# A folder with nothing in it but what came closest in an earlier run: that is said, wherever results are to go.
need matmul fatal
mkdir models
mv matmul.onnx models/matmul.closest.onnx
exits 2 ounce tune models --data fatal.npz --no-cache -o out
exits 2 ounce tune models --data fatal.npz --no-cache
ls
