# --preprocess auto derives layout, size and scale from the data and the input, and says so.
need pixels
exits 2 ounce verify pixels.onnx pixels.onnx --data pixels.png --no-edge-cases
ounce verify pixels.onnx pixels.onnx --data pixels.png --no-edge-cases --preprocess auto | grep note
ounce verify pixels.onnx pixels.onnx --data pixels.npz --no-edge-cases --preprocess auto | grep note || true
