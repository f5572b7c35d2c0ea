# Numbers differ from run to run; the rest does not.
need scores scores_near
ounce bench scores.onnx scores_near.onnx -t 0.05 -b 1,2 --cold-starts 1 > out
sed -E 's/ on (avx2|avx512|sse|arm64)( vnni)?,/ on <cpu>,/; s/no measurable difference|[0-9.]+×/<speed>/; s/^note: the (file cache|machine is busy).*//; s/[0-9]+(\.[0-9]+)*/#/g; s/-+/-/g; s/µs|ms|kB|MB/<unit>/g; s/ +/ /g' out | grep .
