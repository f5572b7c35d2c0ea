# A process that the system kills (for lack of memory, say) is not a fault of the model, nor a bug: exit code 4.
need matmul
cat > runner << 'END'
#!/bin/sh
echo started >> starts
[ "$(wc -l < starts)" -lt "$KILLED" ] || kill -KILL $$
exec "$REAL" "$@"
END
chmod +x runner
export REAL="$(dirname "$(readlink -f "$(command -v ounce)")")/ounce-runner" OUNCE_RUNNER="$PWD/runner"
for KILLED in 1 2; do
  export KILLED
  rm -f starts
  exits 4 ounce quantize matmul.onnx -o small.onnx
done
ls
