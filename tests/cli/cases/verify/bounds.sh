# With --confidence a gate passes on its bound; a gate without a bound fails, and says what to use in its place.
need scores scores_near
judged() { ounce verify scores.onnx scores_near.onnx --data scores.npz --no-edge-cases "$@" | sed -n 2p; }
judged --threshold 0.5 --max-flips 0.5%
exits 1 ounce verify scores.onnx scores_near.onnx --data scores.npz --no-edge-cases --threshold 0.5 --max-flips 0.5% --confidence 95% | sed -n 2p
judged --threshold 0.5 --max-flips 20% --confidence 95%
judged --max-mse 0.003 --confidence 95%
judged --max-mse 0.005 --confidence 95%
judged --abs-tol 1 --confidence 95%
judged --metric-command 'echo 0.5; true' --max-drop 1% --confidence 95%
for more in '--threshold 0.5 --max-flips 0.5%' '--abs-tol 1'; do
  ounce verify scores.onnx scores_near.onnx --data scores.npz --no-edge-cases --json $more 2> /dev/null |
    json_get results.0.passed results.0.certain results.0.unbounded
done
exits 2 ounce tune scores.onnx --data scores.npz --abs-tol 1 --confidence 95% --no-cache
exits 2 ounce tune scores.onnx --data scores.npz --metric-command 'echo 0.5; true' --max-drop 1% --confidence 95% --no-cache
