# Two trainings of one network: the weights differ, by so much.
need scores scores_near scores_far
exits 1 ounce diff scores.onnx scores_near.onnx
exits 1 ounce diff scores.onnx scores_far.onnx
