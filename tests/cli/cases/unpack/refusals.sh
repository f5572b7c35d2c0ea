# What is no model is an error; where no file can be made, the model stays as it is.
need commands
head -c 1000 commands.onnx > cut.onnx
exits 2 ounce unpack cut.onnx --cache cache
exits 4 ounce unpack missing.onnx --cache cache
echo file > cache
exits 4 ounce unpack commands.onnx --cache cache 2>&1 | sed 's/-[0-9.]*-[0-9a-f]*\.ort/-<version>-<cpu>.ort/'
exits 4 ounce unpack commands.onnx --cache cache --json 2> /dev/null | json_get results.0.file results.0.status
exits 2 ounce unpack commands.onnx
