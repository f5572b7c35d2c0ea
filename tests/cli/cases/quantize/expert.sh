# Options for experiments: by --expert, by their own names, and refused with the known keys.
need matmul
ounce quantize matmul.onnx -o a.onnx --expert rounding=nearest --expert scale=absmax > out
ounce quantize matmul.onnx -o b.onnx --rounding nearest --scale absmax > out
cmp a.onnx b.onnx
ounce quantize matmul.onnx -o c.onnx > out
cmp a.onnx c.onnx > out || echo different
ounce quantize --help-all | sed -n '/^Expert/,/^Examples/p' | grep -oE '^  [a-z-]+'
ounce quantize --help | grep -c rounding || true
exits 2 ounce quantize matmul.onnx --expert rounding=up
exits 2 ounce quantize matmul.onnx --expert roundin=nearest
exits 2 ounce quantize matmul.onnx --expert rounding
exits 2 ounce verify matmul.onnx a.onnx --expert nothing=1
