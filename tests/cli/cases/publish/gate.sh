# What fails its gate is not there, and is said; with nothing left, nothing is written.
need matmul
exits 1 ounce publish matmul.onnx -o out --no-bench --no-edge-cases --min-sqnr 30 > said
sed "s/[0-9][0-9.]* dB/<dB>/g" said
find out -type f | sort
exits 1 ounce publish matmul.onnx -o none --no-bench --no-edge-cases --variants q4 --min-sqnr 60 | grep -v '^Next: ' | tail -n 1
# What cannot be made is another thing.
need opset6
exits 3 ounce publish opset6.onnx -o old --no-bench --no-edge-cases --variants fp32,q4 | grep 'q4: not written'
ls
