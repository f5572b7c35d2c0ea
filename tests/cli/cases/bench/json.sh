need scores scores_near
ounce bench scores.onnx scores_near.onnx -r 20 -b 1,4 --cold-starts 1 --json 2>human | json_shape
