# A model that takes longer than the whole budget: a sentence, not a wait.
need endless
ounce advise endless.onnx --budget 3s --json 2> /dev/null | json_get models.0.verdict models.0.headline models.0.baseline.measured models.0.methods.0.out_of_time
