# Models one after another, a folder of them; one that fails does not stop the others, and what was written is no input.
need matmul gemm text trees fatal
mkdir models
mv matmul.onnx gemm.onnx text.onnx models
exits 2 ounce tune models --data fatal.npz --budget '3 models' --cache kept --json 2> human > document
grep '^ounce' human
tail -n 3 human | awk '{ print $1, $2, $NF }'
json_get results.0.model results.0.output results.1.model errors.0.model errors.0.code errors.0.message < document
ls models
exits 2 ounce tune models/matmul.onnx models/text.onnx --data fatal.npz --budget '3 models' --cache kept -o out > /dev/null 2>&1
ls out
exits 2 ounce tune models --data fatal.npz --budget '3 models' --cache kept --json 2> /dev/null | json_get results.0.model results.1.model errors.0.model
