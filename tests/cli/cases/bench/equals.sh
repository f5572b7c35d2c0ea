# One model against itself: nobody is faster, whatever the clock says.
need matmul
cp matmul.onnx copy.onnx
ounce bench matmul.onnx matmul.onnx copy.onnx -r 200 --cold-starts 0 --json 2> /dev/null > document
json_get results.0.models.1.batches.0.speed_up.measurable results.0.models.2.batches.0.speed_up.measurable results.0.notes < document
