# Where there is no room for the file, exit code 4 says so, and nothing is left.
need commands
ulimit -f 8
exits 4 ounce unpack commands.onnx --cache cache 2>&1 | sed 's/-[0-9.]*-[0-9a-f]*\.ort/-<version>-<cpu>.ort/'
exits 4 ounce unpack commands.onnx --cache cache --no-isolate --json 2> /dev/null | json_get results.0.file results.0.status
ls -A cache
