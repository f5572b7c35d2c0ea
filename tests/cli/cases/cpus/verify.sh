need saturating
ounce verify saturating.floats.onnx saturating.onnx --data saturating.npz --on z80 || echo "exit $?"
ounce verify saturating.floats.onnx saturating.onnx --data saturating.npz --on avx2 --via "sh -c" || echo "exit $?"
