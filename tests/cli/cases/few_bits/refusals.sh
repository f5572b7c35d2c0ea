need matmul
refused() { ounce quantize matmul.onnx "$@" || echo $?; }
refused --to nbits4 --granularity block:8
refused --to nbits4 --granularity channel
refused --to nbits4 --granularity block:512
refused --to nbits4 --codebook
refused --to nbits4 --decode dq
refused --to nbits4 --method gptq
refused --to nbits4 --bits 5
refused --to w4 --method rtn
refused --to nbits4 --kernels qdq --accuracy-level 4
refused --to nbits2 --kernels qdq
refused --to nbits4 --method awk
refused --to nbits4 --no-verify --level prodct=1
refused --to nbits4 --no-verify --level nobody=1
refused --to w8 --level product=1
refused --to nbits4 --kernels qdq --level product=1
ls
