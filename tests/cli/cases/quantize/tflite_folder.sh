# A folder may hold models of both kinds.
need example matmul
mkdir models
cp example.tflite matmul.onnx models
ounce quantize models -o small --no-verify > /dev/null
ls small
ounce inspect models --json 2> /dev/null | grep -c '"model": "models/'
mkdir alone
mv example.tflite alone
ounce diff alone models/example.tflite > /dev/null
