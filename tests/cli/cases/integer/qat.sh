# Trained scales are kept to the bit, unless a target is named on which their products saturate.
need qat
ounce quantize qat.onnx --to int8 -o kept.onnx --json 2> /dev/null | json_get results.0.trial.exact results.0.scale_changes results.0.notes
ounce quantize qat.onnx --to int8 -o vnni.onnx --target linux-x64@1.30.0+vnni --json 2> /dev/null | json_get results.0.scale_changes results.0.notes
ounce quantize qat.onnx --to int8 -o avx2.onnx --target linux-x64@1.30.0+avx2 --on none | grep saturate
ounce quantize qat.onnx --to int8 -o avx2.onnx --target linux-x64@1.30.0+avx2 --on none --json 2> /dev/null | json_get results.0.scale_changes
ounce check kept.onnx avx2.onnx --target linux-x64@1.30.0+avx2 --json 2> /dev/null | grep '"saturating"'
