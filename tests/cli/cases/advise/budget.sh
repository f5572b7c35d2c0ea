# A model that takes longer than the whole budget: a sentence, not a wait.
need endless
ounce advise endless.onnx --budget 3s --json 2> /dev/null | json_get results.0.verdict results.0.headline results.0.baseline.measured results.0.methods.0.out_of_time
