mkdir folder.onnx
mkfifo pipe.onnx
exits 4 ounce repack folder.onnx -o copy.onnx
exits 4 ounce inspect pipe.onnx
exits 4 ounce inspect /dev/zero
