need tied matmul
ounce quantize matmul.onnx --to nbits8 --target linux-x64@1.20.1 -o old.onnx --no-verify
ounce quantize tied.onnx --to nbits4 --target linux-x64@1.20.1 -o tied_old.onnx --no-verify
ounce quantize tied.onnx --to nbits4 -o new.onnx --no-verify
ounce check new.onnx --target linux-x64@1.20.1 || echo $?
ounce check new.onnx --target linux-x64@1.30.0
