# Initializers that are listed as inputs, as old exporters do: constants, unless --keep-inputs says otherwise.
need overridable
ounce quantize overridable.onnx --dry-run
ounce quantize overridable.onnx > /dev/null
ounce inspect overridable.w8.onnx | grep 'input '
ounce verify overridable.onnx overridable.w8.onnx > /dev/null && echo "the same model"
ounce inspect overridable.onnx | grep -e note -e 'cannot be quantized'
ounce inspect overridable.onnx --keep-inputs | grep -e note -e 'cannot be quantized'
exits 3 ounce quantize overridable.onnx --keep-inputs
