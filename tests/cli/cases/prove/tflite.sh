need example
ounce quantize example.tflite --no-verify > /dev/null
ounce prove example.w8.tflite --source example.tflite
