need nan
cp nan.onnx before.onnx
exits 2 ounce quantize nan.onnx
exits 2 ounce quantize nan.onnx --to w16
exits 2 ounce quantize nan.onnx --codebook
exits 3 ounce quantize nan.onnx --exclude '^w$'
ls
