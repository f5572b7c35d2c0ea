# The unit of a metric is stated, and never guessed from its value.
need scores scores_near
for said in 0.5 '{"snr":0.5,"unit":"decibel"}' '{"right":0.5,"unit":"share"}' '{"wer":0.5,"lower_is_better":true}'; do
  ounce verify scores.onnx scores_near.onnx --data scores.npz --no-edge-cases --metric-command "echo '$said'; true" --max-drop 1% > out
  sed -n 2p out
done
exits 2 ounce verify scores.onnx scores_near.onnx --data scores.npz --no-edge-cases --metric-command "echo '{\"snr\":0.5,\"unit\":\"bels\"}'; true"
ounce verify scores.onnx scores_near.onnx --data scores.npz --labels label --no-edge-cases --json 2> /dev/null | json_get results.0.metrics.0.unit
