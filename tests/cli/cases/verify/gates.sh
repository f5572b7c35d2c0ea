# The largest difference is an eighth, the mean one less.
need scores scores_near
for gate in '--abs-tol 0.125' '--abs-tol 0.124' '--mean-tol 0.02' '--mean-tol 0.01' '--min-sqnr 10' '--min-sqnr 90' \
  '--min-agreement 100%' '--min-agreement 0.5' '--abs-tol 0.125 --min-sqnr 90'; do
  code=0
  ounce verify scores.onnx scores_near.onnx --data scores.npz --no-edge-cases $gate > out || code=$?
  echo "$gate: exit $code, $(tail -n 1 out)"
done
