# Summaries for continuous integration.
need scores scores_near scores_far
exits 1 ounce verify scores.onnx scores_near.onnx scores_far.onnx --data scores.npz --labels label --max-drop 1% --no-edge-cases --junit ci.xml --markdown ci.md > out
cat ci.xml ci.md
# Markdown grows, JUnit is replaced.
ounce verify scores.onnx scores_near.onnx --data scores.npz --no-edge-cases --junit ci.xml --markdown ci.md --quiet
grep -c testcase ci.xml
grep -c '^###' ci.md
# Other files are not replaced, and are found before the work.
echo mine > mine.md
exits 2 ounce verify scores.onnx scores_near.onnx --markdown mine.md
exits 2 ounce verify scores.onnx scores_near.onnx --junit mine.md
exits 2 ounce verify scores.onnx scores_near.onnx --junit scores_near.onnx
exits 4 ounce verify scores.onnx scores_near.onnx --junit missing/ci.xml
# A gate needs data.
exits 2 ounce verify scores.onnx scores_near.onnx --require-data
exits 4 ounce check scores.onnx missing.onnx --target linux-x64@1.22.0 --markdown check.md > out
grep '^|' check.md
exits 3 ounce check scores.onnx --target linux-x64@1.99.0 --fail-on unknown --junit check.xml > out
grep '<failure' check.xml
