# "No worse than the last release": the document of an earlier run is the threshold.
need scores scores_near scores_far
ounce verify scores.onnx scores_near.onnx --data scores.npz --labels label --no-edge-cases --json > release.json 2> human
ounce verify scores.onnx scores_near.onnx --data scores.npz --labels label --no-edge-cases --baseline release.json | grep baseline
cp scores_far.onnx scores_near.onnx
exits 1 ounce verify scores.onnx scores_near.onnx --data scores.npz --labels label --max-drop 50% --no-edge-cases --baseline release.json --junit ci.xml > out
grep '^passed\|^failed\|baseline' out
grep -c '<failure' ci.xml
ounce verify scores.onnx scores_near.onnx --data scores.npz --labels label --max-drop 50% --no-edge-cases --baseline release.json --tolerance 99% | grep baseline
exits 2 ounce verify scores.onnx scores_far.onnx --data scores.npz --labels label --max-drop 50% --no-edge-cases --baseline release.json > out
exits 2 ounce verify scores.onnx scores_near.onnx --baseline scores.npz
exits 4 ounce verify scores.onnx scores_near.onnx --baseline missing.json
