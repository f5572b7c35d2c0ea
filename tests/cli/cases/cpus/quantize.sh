need saturating lstm
ounce quantize saturating.floats.onnx -o dynamic.onnx --to int8-dynamic --min-bytes 16 --on avx2 | grep "on avx2" | sed "s/[0-9]* samples/<some> samples/"
ounce quantize saturating.floats.onnx -o static.onnx --to int8 --data saturating.npz --no-search --min-bytes 16 --on avx2 | grep "on avx2" | sed "s/[0-9]* samples/<some> samples/"
ounce check dynamic.onnx static.onnx --target linux-x64@1.30.0+avx2 --json 2>/dev/null | grep '"saturating"'
# Models that come with codes keep them, unless the target saturates.
exits 3 ounce quantize saturating.onnx -o trained.onnx --to int8 --on avx2
ounce quantize saturating.onnx -o trained.onnx --to int8 --on avx2 --target linux-x64@1.30.0+avx2 | grep -E "on avx2|saturate" | sed "s/[0-9]* samples/<some> samples/"
ounce check trained.onnx --target linux-x64@1.30.0+avx2 --json 2>/dev/null | grep '"saturating"'
# All 8 bits where the target, or the user, promises exact products: then nothing is proved of other CPUs.
ounce quantize saturating.floats.onnx -o full.onnx --to int8-dynamic --min-bytes 16 --on avx2 --target linux-x64@1.30.0+vnni | grep "on avx2" || echo "not on avx2"
ounce check full.onnx --target linux-x64@1.30.0+avx2 --json 2>/dev/null | grep '"saturating"'
# An LSTM takes its weights transposed.
ounce quantize lstm.onnx -o lstm8.onnx --to int8-dynamic --on avx2 | grep "on avx2" | sed "s/[0-9]* samples/<some> samples/; s/[0-9.]* dB/<dB>/g"
ounce check lstm8.onnx --target linux-x64@1.30.0+avx2 --json 2>/dev/null | grep '"saturating"'
