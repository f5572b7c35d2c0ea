# A budget in which nothing can be made is no mistake of the request: nothing passed, and it says why.
need fatal
exits 1 ounce tune fatal.onnx --data fatal.npz --no-cache --budget 0.000001s --json 2> human > document
json_get models.0.exit_code models.0.passed models.0.out_of_time models.0.best models.0.output models.0.closest < document
tail -n 3 human
ls | grep -e tuned -e closest || true
