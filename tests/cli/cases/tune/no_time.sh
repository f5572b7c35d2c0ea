# A budget in which nothing can be made is no mistake of the request: nothing passed, and it says why.
need fatal
exits 1 ounce tune fatal.onnx --data fatal.npz --no-cache --budget 0.000001s --json 2> human > document
json_get results.0.passed results.0.out_of_time results.0.best results.0.output results.0.closest < document
tail -n 3 human
ls | grep -e tuned -e closest || true
