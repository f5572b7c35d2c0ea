# 64 samples, all equal, do not show that no more than 2 points are lost: the safest model is kept, and the last lines say what to do.
need fatal
exits 1 ounce tune fatal.onnx --data fatal.npz --labels label --max-drop 2% --budget '60 models' --no-cache -o small.onnx > text
grep -e '^nothing passed' -e '^it was written' -e '^not enough samples' text
# Each row of the table says what its model lacks.
grep -o 'failed: [0-9]* of [0-9]* samples needed at [0-9.]* % confidence' text | sort -u
exits 1 ounce tune fatal.onnx --data fatal.npz --labels label --max-drop 2% --budget '60 models' --no-cache -o small.onnx --json 2> /dev/null > document
json_get results.0.best.reason results.0.best.more_samples < document
json_get results.0.passed results.0.confidence results.0.samples_needed results.0.best.name results.0.closest < document
# What they can show passes: more may be lost, or nothing is asked about other data.
ounce tune fatal.onnx --data fatal.npz --labels label --max-drop 10% --budget '60 models' --no-cache -o small.onnx > text
grep -o -e 'points or less at [0-9.]* % confidence' text | tail -n 1
ounce tune fatal.onnx --data fatal.npz --labels label --max-drop 2% --confidence none --budget '60 models' --no-cache -o small.onnx > text
grep -c 'confidence' text || true
