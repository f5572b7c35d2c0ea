# The data file's name is made of its content, so it is the same too.
need large
for threads in 1 2 5; do
  mkdir $threads
  ounce quantize large.onnx --threads $threads --external-data always -o $threads/ >/dev/null
done
diff -r 1 2
diff -r 1 5
ls 1
