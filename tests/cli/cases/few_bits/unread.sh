# A plan of few bits is made by shapes alone: what is wrong with values shows when they are read.
need nan
ounce quantize nan.onnx --to nbits4 --dry-run --json 2> /dev/null | json_get errors results.0.source_digest results.0.tensors.0.encoding
ounce quantize nan.onnx --to nbits4 || echo $?
ls
