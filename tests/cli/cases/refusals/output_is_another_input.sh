# Whatever a command reads, it does not write over, under whatever name.
need conv
echo data > d.npz
ln d.npz hard.npz
printf 'ounce.ranges' > r.ranges
printf '[quantize]\nto = "w8"\n' > ounce.toml
printf '[inputs.x]\nrescale_factor = 2\n' > contract.toml
ln -s ounce.toml soft.onnx
sha256sum d.npz r.ranges ounce.toml contract.toml > before
exits 2 ounce quantize conv.onnx --to int8 --data d.npz -o d.npz
exits 2 ounce quantize conv.onnx --to int8 --data d.npz -o hard.npz
exits 2 ounce quantize conv.onnx --to int8 --ranges r.ranges -o r.ranges
exits 2 ounce tune conv.onnx --data d.npz -o hard.npz --no-cache
exits 2 ounce calibrate conv.onnx --data d.npz -o hard.npz
exits 2 ounce calibrate merge r.ranges -o r.ranges
exits 2 ounce contract set conv.onnx --rescale 2 --data d.npz -o d.npz
exits 2 ounce --config ounce.toml quantize conv.onnx -o ounce.toml
exits 2 ounce --config ounce.toml quantize conv.onnx -o soft.onnx
exits 2 ounce --config ounce.toml copy conv.onnx -o soft.onnx
exits 2 ounce --config ounce.toml check conv.onnx --target linux-x64@1.30.0 --required-ops ounce.toml > checked
exits 2 ounce contract set conv.onnx --contract contract.toml -o contract.toml
sha256sum --check --quiet before
mkdir samples
cp d.npz samples/1.png
exits 2 ounce quantize conv.onnx --data samples -o samples/1.png
ls
