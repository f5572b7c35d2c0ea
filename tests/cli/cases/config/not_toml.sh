# What is no TOML is told with its line and column, in one line.
need matmul
printf '[quantize]\nto =\n' >no_value.toml
printf '[quantize]\nto = w4\n' >no_quotes.toml
printf '[quantize\nto = "w4"\n' >open.toml
printf '[quantize]\nto = "w4"\nto = "w8"\n' >twice.toml
printf '\001\377\376junk\000' >junk.toml
python3 -c 'print("[" + "." * 100_000 + "]")' >dots.toml
python3 -c 'print("[" + ".".join("a" * 9_000) + "]")' >deep.toml
for file in no_value no_quotes open twice junk dots deep; do
  exits 2 ounce --config $file.toml quantize matmul.onnx
done
ls *.w*.onnx 2>/dev/null || echo nothing written
