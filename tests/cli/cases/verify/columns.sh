# Columns of a table make one vector, and its classes may be written as 1.0.
need zipmap column
ounce quantize zipmap.onnx > /dev/null
ounce verify zipmap.onnx zipmap.w8.onnx --data zipmap.csv --input x=f0..f127 --labels class --no-edge-cases --json 2> /dev/null |
  json_get results.0.passed results.0.samples results.0.metrics.0.name
exits 2 ounce verify zipmap.onnx zipmap.w8.onnx --data zipmap.csv --input x=f0..f200
exits 2 ounce verify zipmap.onnx zipmap.w8.onnx --data zipmap.csv --input x=f9..f0
ounce quantize column.onnx > /dev/null
ounce verify column.onnx column.w8.onnx --data column.npz --no-edge-cases --json 2> /dev/null | json_get results.0.passed results.0.samples
