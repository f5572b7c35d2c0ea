exits 2 ounce quantize
exits 2 ounce inspect
exits 2 ounce repack model.onnx
