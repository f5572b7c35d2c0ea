# What somebody else has quantized already stays as it is; the rest is tuned.
need quantized trained fatal
ounce tune quantized.onnx trained.onnx --data fatal.npz --budget '1 models' --no-cache -o out --json 2> /dev/null > document
json_get results.0.passed results.1.passed results.0.layers.0.op_type < document
ounce verify quantized.onnx out/quantized.onnx --data fatal.npz --min-sqnr 30 > /dev/null
ounce verify trained.onnx out/trained.onnx --data fatal.npz --min-sqnr 30 > /dev/null
exits 3 ounce tune out/quantized.onnx --data fatal.npz --budget '2 models' --no-cache
