need scores text
exits 2 ounce bench text.onnx
exits 4 ounce bench nowhere.onnx
exits 2 ounce bench scores.onnx -b 0
