# Made once, in a runner; the second time it is there. Two at once are both right.
need commands
ounce quantize commands.onnx -o small.onnx > /dev/null
ounce unpack small.onnx --cache cache --json 2> /dev/null > first.json
ounce unpack small.onnx --cache cache --json 2> /dev/null > second.json
json_shape < first.json
json_get results.0.is_new results.0.in_runner results.0.status results.0.why_not < first.json
json_get results.0.is_new results.0.in_runner results.0.status < second.json
ounce unpack small.onnx --cache other --json > third.json 2> /dev/null &
ounce unpack small.onnx --cache other --json > fourth.json 2> /dev/null &
wait
json_get results.0.status < third.json
json_get results.0.status < fourth.json
ls other | wc -l
ounce unpack small.onnx --cache cache | sed 's/[0-9.]* [kM]B/<size>/g; s/-[0-9.]*-[0-9a-f]*\.ort/-<version>-<cpu>.ort/'
