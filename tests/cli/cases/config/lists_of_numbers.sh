# Values that the command line separates with commas may be a list.
need matmul
cat > options.toml <<'END'
[contract.set]
kind = "tensor"
mean = [0.5, 0.25]
std = [2, 4]
output = "set.onnx"
END
ounce --config options.toml contract set matmul.onnx > a
ounce contract set matmul.onnx --kind tensor --mean 0.5,0.25 --std 2,4 -o set.onnx > b
cmp a b
grep -c '0.25' a
