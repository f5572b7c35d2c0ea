need scores text two_versions defined_twice
exits 2 ounce bench text.onnx
exits 4 ounce bench nowhere.onnx
exits 2 ounce bench scores.onnx -b 0
exits 2 ounce bench scores.onnx two_versions.onnx
exits 2 ounce bench scores.onnx defined_twice.onnx
