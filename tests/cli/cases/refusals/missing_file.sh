exits 4 ounce quantize absent.onnx
exits 4 ounce inspect absent.onnx
exits 4 ounce repack absent.onnx -o copy.onnx
exits 4 ounce inspect absent/
ls
