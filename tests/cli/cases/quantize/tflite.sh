need example integers
ounce quantize example.tflite --no-verify --verbose
ounce quantize example.tflite --to w16 --no-verify
ounce quantize example.tflite --to w4 --no-verify
ounce quantize example.tflite --to int8-dynamic --no-verify
ls
exits 3 ounce quantize integers.tflite --no-verify
exits 3 ounce quantize example.w8.tflite --no-verify
exits 3 ounce quantize example.tflite --to nbits4 --no-verify
