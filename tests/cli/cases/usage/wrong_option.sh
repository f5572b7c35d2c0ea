# The option that is blamed is the one that is wrong.
need matmul
exits 2 ounce contract set matmul.onnx --layout nchw
exits 2 ounce contract set matmul.onnx --lay-out nchw
exits 2 ounce shadow report
exits 2 ounce contract
exits 2 ounce quantize matmul.onnx --bad
exits 2 ounce --bad
exits 2 ounce quantise matmul.onnx --to int8
exits 2 ounce compress matmul.onnx
