# A flag is true or false; an option takes text, a number, or a list of them.
need matmul
printf '[quantize]\nasymmetric = "yes"\n' >flag.toml
printf '[quantize]\nto = true\n' >option.toml
printf '[quantize]\nto = 1979-05-27\n' >date.toml
printf '[quantize]\nexclude = [["a"]]\n' >list.toml
printf '[quantize]\nto = { is = "w4" }\n' >table.toml
printf '[quantize.sett]\nto = "w4"\n' >inner.toml
printf '[contract.sett]\nlayout = "nchw"\n' >verb.toml
printf '[quantize]\nconfig = "other.toml"\n' >itself.toml
for file in flag option date list table inner verb itself; do
  exits 2 ounce --config $file.toml quantize matmul.onnx
done
