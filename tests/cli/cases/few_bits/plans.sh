need matmul gemm tied embedding conv half
for model in matmul gemm tied embedding conv; do ounce quantize $model.onnx --dry-run --to nbits4; done
ounce quantize matmul.onnx --dry-run --to nbits2 --granularity block:16 --asymmetric
ounce quantize matmul.onnx --dry-run --to nbits8 --accuracy-level 1
ounce quantize matmul.onnx --dry-run --to nbits4 --kernels qdq
ounce quantize half.onnx --dry-run --to nbits4
ounce quantize matmul.onnx --dry-run --to w8 --node product=nbits4
