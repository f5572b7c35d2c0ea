need saturating
ounce check saturating.onnx --target linux-x64@1.30.0,linux-x64@1.30.0+vnni,android-arm64@1.22.0 && echo "exit 0"
ounce check saturating.onnx --target linux-x64@1.30.0+avx2 || echo "exit $?"
ounce check saturating.onnx --target linux-x64@1.30.0+avx2 --json 2>/dev/null | grep -E '"(saturating|worst_pair|verdict)"'
ounce inspect saturating.onnx | grep VNNI
ounce check saturating.floats.onnx --target linux-x64@1.30.0+avx2 | grep -v '^Next: ' | tail -n 1
