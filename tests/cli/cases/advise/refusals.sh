need trees signal
exits 4 ounce advise nowhere.onnx
exits 2 ounce advise trees.onnx --budget 0
exits 2 ounce advise trees.onnx --budget soon
exits 2 ounce advise trees.onnx --target toaster
exits 2 ounce advise trees.onnx --max-drop 5
exits 4 ounce advise signal.onnx --data nowhere.npz
