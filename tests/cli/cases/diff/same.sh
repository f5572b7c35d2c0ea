# Exit 0: a copy, packed in or out.
need matmul external
ounce diff matmul.onnx matmul.onnx
ounce repack external.onnx -o packed.onnx --external-data never > human
ounce diff external.onnx packed.onnx
