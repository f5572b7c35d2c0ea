need fatal
ounce tune fatal.onnx --data fatal.npz --labels label --min-sqnr 30 --budget '8 models' --no-cache -o small.onnx --json 2> human > document
json_shape < document
grep -c 'fatal.onnx: 32 samples for the search, 32 held out' human
