# Only a file may be replaced: what is anything else is there afterwards, and nothing beside it.
need matmul
mkfifo pipe
ln -s pipe link
ln -s /proc/self/fd/1 stdout
exits 2 ounce quantize matmul.onnx -o pipe
exits 2 ounce quantize matmul.onnx -o link
exits 2 ounce repack matmul.onnx -o pipe
exits 2 ounce repack matmul.onnx -o stdout > printed
exits 2 ounce contract set matmul.onnx -o pipe --rescale 2
exits 2 ounce check matmul.onnx --target linux-x64@1.30.0 --required-ops pipe > checked
mkdir demo
mkfifo demo/commands.onnx
exits 2 ounce demo -o demo
test -p pipe
ls
