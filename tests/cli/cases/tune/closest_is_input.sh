# What came closest must never take the place of the model itself.
need matmul fatal
cp matmul.onnx model.closest.onnx
code=0
ounce tune model.closest.onnx --data fatal.npz --min-sqnr 300 --budget '3 models' --no-cache -o model.onnx > /dev/null 2>&1 || code=$?
cmp matmul.onnx model.closest.onnx
[ $code != 0 ]
[ ! -e model.onnx ]
