need matmul
refused() { ounce quantize matmul.onnx "$@" || echo $?; }
refused --to int4 --granularity block:8
refused --to int4 --granularity channel
refused --to int4 --granularity block:512
refused --to int4 --codebook
refused --to int4 --decode dq
refused --to int4 --method gptq
refused --to int4 --bits 5
refused --to w4 --method rtn
refused --to int4 --kernels qdq --accuracy-level 4
refused --to int2 --kernels qdq
refused --to int4 --method awk
refused --to int4 --no-verify --level prodct=1
refused --to int4 --no-verify --level nobody=1
refused --to w8 --level product=1
refused --to int4 --kernels qdq --level product=1
ls
