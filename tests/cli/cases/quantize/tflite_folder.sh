# A folder may hold models of both kinds.
need example matmul
mkdir models
cp example.tflite matmul.onnx models
ounce quantize models -o small --no-verify > /dev/null
ls small
ounce inspect models --json | json_get results.0.format results.1.format
cp example.tflite alone.tflite
mkdir alone
mv alone.tflite alone
ounce diff alone models/example.tflite > /dev/null
