# Names of other tools' commands, and words that are neither a verb nor a file.
for word in optimize compress convert benchmark compare quantise nonsense; do
  exits 2 ounce $word model.onnx
done
exits 4 ounce missing.onnx
exits 4 ounce missing.tflite
# An earlier name.
need matmul
ounce copy matmul.onnx -o copied.onnx
cmp matmul.onnx copied.onnx
# Found before any work: the first model is not quantized.
exits 4 ounce quantize matmul.onnx out.onnx
ls
