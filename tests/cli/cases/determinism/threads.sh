# The same bytes for any number of threads, and every time.
need large external
same() {
  for threads in 1 2 5; do
    ounce quantize "$@" --threads $threads -o t$threads.onnx >/dev/null
  done
  ounce quantize "$@" --threads 2 -o again.onnx >/dev/null
  cmp t1.onnx t2.onnx
  cmp t1.onnx t5.onnx
  cmp t1.onnx again.onnx
}
same large.onnx
same large.onnx --to w4
same large.onnx --to w16
same large.onnx --codebook
same large.onnx --to w4 --codebook
same large.onnx --asymmetric
same large.onnx --to w4 --granularity block:64 --scale absmax
same external.onnx
