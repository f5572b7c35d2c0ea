# A release belongs to one runtime, and a model to one of them.
need example
need commands
exits 2 ounce check example.tflite --target linux-x64@1.30.0
exits 2 ounce check example.tflite --target linux-x64@litert-2.3.0+cuda
exits 2 ounce check commands.onnx --target linux-x64@litert-2.3.0
# A release that was not measured is unknown.
ounce check example.tflite --target linux-x64@litert-9.9.0
exits 3 ounce check example.tflite --target linux-x64@litert-9.9.0 --fail-on unknown
