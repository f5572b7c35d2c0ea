need signal
ounce quantize signal.onnx --to int8 --data signal.npz --no-search --no-reduce-range --fallback fp16 --exclude second --min-bytes 16
ounce quantize signal.onnx --to int8 --data signal.npz --no-search --no-reduce-range --fallback fp16 --exclude second --target cuda
ounce verify signal.onnx signal.int8.onnx --data signal.npz --min-sqnr 25 >/dev/null && echo "close enough"
