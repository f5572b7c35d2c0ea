# Models one after another, a folder of them; one that fails does not stop the others, and what was written is no input.
need matmul gemm text trees fatal
mkdir models
mv matmul.onnx gemm.onnx text.onnx models
exits 2 ounce tune models --data fatal.npz --budget '3 models' --cache kept --json 2> human > document
grep '^ounce' human
tail -n 3 human | awk '{ print $1, $2, $NF }'
json_get models.0.model models.0.exit_code models.0.output models.1.model models.1.exit_code models.2.model models.2.exit_code models.2.error < document
ls models
exits 2 ounce tune models/matmul.onnx models/text.onnx --data fatal.npz --budget '3 models' --cache kept -o out > /dev/null 2>&1
ls out
exits 2 ounce tune models --data fatal.npz --budget '3 models' --cache kept --json 2> /dev/null | json_get models.0.model models.1.model models.2.model
