need trees text
exits 2 ounce advise trees.onnx text.onnx > out
tail -n 5 out | sed -E 's/ +$//'
