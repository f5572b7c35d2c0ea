# A word that stands where a model is expected is refused before any work, with what it was probably meant as.
need matmul
exits 4 ounce quantize matmul.onnx out.onnx
exits 4 ounce tune matmul.onnx 'out of it.onnx' --data d.npz
exits 4 ounce quantize matmul.onnx --std .247 .2435 .2616
exits 4 ounce quantize --mean .49 .48 .45 --std .247 .2435 .2616 matmul.onnx
exits 4 ounce verify matmul.onnx --on avx2 arm64
exits 4 ounce quantize matmul.onnx out.onnx -o other.onnx
ls
