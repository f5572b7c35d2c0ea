# Changed tokens and the text's nll decide.
need cached uncached
ounce quantize cached.onnx --to nbits4 --granularity block:256 --scale absmax --method rtn -o small.onnx --no-verify > /dev/null
texts='--tokens 16 --prompt 4 --data cached.npz'
verdicts() { grep 'passed:\|failed:'; }
ounce verify uncached.onnx cached.onnx $texts --max-flips 0 | verdicts
ounce verify uncached.onnx cached.onnx $texts | verdicts
ounce verify cached.onnx small.onnx $texts --max-flips 0 > out || echo $?
verdicts < out | sed -E 's/[0-9]+ of 48 tokens changed \([0-9.]+/# of 48 tokens changed (#/'
ounce verify uncached.onnx cached.onnx $texts --min-agreement 99% --max-drop .01 --json 2> /dev/null | json_get verb results.0.models.1.passed results.0.models.1.verdict
ounce verify uncached.onnx cached.onnx --tokens 4 --max-drop .01 || echo $?
ounce verify uncached.onnx cached.onnx $texts --min-sqnr 30 || echo $?
ounce verify uncached.onnx cached.onnx $texts --report x.html || echo $?
ounce verify uncached.onnx cached.onnx --prompt 3 || echo $?
