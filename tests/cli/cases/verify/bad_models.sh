need scores matmul text truncated external
exits 2 ounce verify scores.onnx text.onnx
exits 2 ounce verify scores.onnx truncated.onnx
exits 2 ounce verify scores.onnx matmul.onnx
exits 4 ounce verify scores.onnx nowhere.onnx
rm external.data
exits 2 ounce verify external.onnx external.onnx
