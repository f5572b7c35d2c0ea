# A classifier with ZipMap is measured, calibrated and tuned.
need zipmap
ounce quantize zipmap.onnx --to int8 --data zipmap.npz --on none --json 2> /dev/null | json_get results.0.nodes.0.arithmetic results.0.trial.tried
ounce tune zipmap.onnx --data zipmap.npz --outputs probabilities --budget '2 models' --no-cache -o out.onnx --json 2> /dev/null | json_get results.0.passed
ounce sensitivity zipmap.onnx --to w8 --data zipmap.npz --no-cache --json 2> /dev/null | json_get results.0.groups.0.measured
