# The largest difference is an eighth, the mean one less.
need scores scores_near
for gate in '--abs-tol 0.125' '--abs-tol 0.124' '--mean-tol 0.02' '--mean-tol 0.01' '--min-sqnr 10' '--min-sqnr 90' \
  '--min-agreement 100%' '--min-agreement 0.5' '--abs-tol 0.125 --min-sqnr 90' '--max-mse 0.01' '--max-mse 1e-4' \
  '--threshold 0.05 --max-flips 20%' '--threshold 0.05 --max-flips 1%' '--max-flips 1%'; do
  code=0
  ounce verify scores.onnx scores_near.onnx --data scores.npz --no-edge-cases $gate > out || code=$?
  echo "$gate: exit $code, $(sed -n 2p out)"
done
