# sha256 covers external data, as the documentation says.
need external matmul
ounce unpack matmul.onnx --cache cache --json 2> /dev/null | json_get results.0.sha256 > plain
ounce unpack external.onnx --cache cache --json 2> /dev/null | json_get results.0.sha256 > with_data
grep -c "$(sha256sum < matmul.onnx | cut -d ' ' -f 1)" plain
grep -c "$(sha256sum external.onnx external.data | cut -d ' ' -f 1 | sha256sum | cut -d ' ' -f 1)" with_data
