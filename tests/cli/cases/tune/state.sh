# A state is carried through the whole sequence; the second half of it is held out, and no gate looks at the state itself.
need memory
t() { ounce tune memory.onnx --data memory.npz --budget '4 models' --no-cache -o small.onnx --json "$@"; }
t --carry state=state_out 2> /dev/null > document
json_get results.0.passed results.0.search_samples results.0.held_out_samples results.0.held_out.passed < document
ounce verify memory.onnx small.onnx --data memory.npz --carry state=state_out --min-sqnr 30 > /dev/null
exits 2 ounce tune memory.onnx --data memory.npz --no-cache -o small.onnx > /dev/null
exits 2 ounce tune memory.onnx --data memory.npz --no-cache -o small.onnx --carry state=nothing > /dev/null
