# Too few samples to hold some out: a note says so. --max-drop without labels: outputs decide, and a note says that.
need matmul fatal
ounce tune matmul.onnx --data fatal.npz --samples 3 --max-drop 1% --budget '5 models' --no-cache --json 2> /dev/null > document
json_get results.0.search_samples results.0.held_out_samples results.0.passed results.0.output < document
json_get results.0.notes < document | grep -o -e 'samples are too few for a holdout set' -e 'there are no labels'
