# A file in the cache that was damaged is found and made again.
need commands
ounce quantize commands.onnx -o small.onnx > /dev/null
ounce unpack small.onnx --cache cache > /dev/null
file=$(echo cache/*.ort)
printf 'x' | dd of="$file" bs=1 seek=20000 conv=notrunc 2> /dev/null
ounce unpack small.onnx --cache cache --json 2> /dev/null | json_get results.0.is_new results.0.was_damaged
ounce unpack small.onnx --cache cache --json 2> /dev/null | json_get results.0.is_new results.0.was_damaged
printf 'x' | dd of="$file" bs=1 seek=20000 conv=notrunc 2> /dev/null
ounce unpack small.onnx --cache cache | grep -o 'written again.*'
ounce unpack small.onnx --cache cache | grep -o 'already in the cache'
