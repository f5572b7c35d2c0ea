# A release that was not measured is unknown; one that cannot be in the data is refused.
need signal
for target in linux-x64@9.9 linux-x64@1.2.0 ort-web@2.0.0 linux-x64@1; do exits 2 ounce check signal.onnx --target $target; done
exits 2 ounce quantize signal.onnx --target linux-x64@9.9
ounce check signal.onnx --target linux-x64@1.99.0
exits 3 ounce check signal.onnx --target linux-x64@1.99.0 --fail-on unknown > /dev/null
exits 3 ounce check signal.onnx --target linux-x64@1.99.0 --fail-on slow,unknown > /dev/null
ounce check signal.onnx --target linux-x64@1.99.0 --fail-on slow > /dev/null
ounce check signal.onnx --target linux-x64@1.30.0 --fail-on slow,unknown > /dev/null
exits 2 ounce check signal.onnx --fail-on fast
