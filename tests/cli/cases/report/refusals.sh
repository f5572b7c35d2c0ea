# The page takes nobody's place, and what is no run is not drawn.
need scores scores_near
exits 2 ounce verify scores.onnx scores_near.onnx --report page
exits 2 ounce verify scores.onnx scores_near.onnx --report scores.onnx
exits 2 ounce verify scores.onnx scores_near.onnx --report /dev/null
mkdir folder.html
exits 4 ounce verify scores.onnx scores_near.onnx --report folder.html
cp scores.npz data.html
exits 2 ounce verify scores.onnx scores_near.onnx --data data.html --report data.html
exits 2 ounce verify scores.onnx scores_near.onnx --data data.html --report ./folder.html/../data.html
cmp scores.npz data.html
cp scores.npz other.html
exits 2 ounce verify scores.onnx scores_near.onnx --report other.html
cmp scores.npz other.html
mkfifo pipe.html
exits 2 ounce verify scores.onnx scores_near.onnx --report pipe.html
echo '{"verb": "copy", "results": []}' > copy.json
exits 2 ounce report copy.json -o page.html
echo '{"verb": "verify"' > cut.json
exits 2 ounce report cut.json -o page.html
echo '[1, 2]' > list.json
exits 2 ounce report list.json -o page.html
exits 4 ounce report nowhere.json -o page.html
exits 2 ounce report list.json -o list.json
cp list.json list.html
exits 2 ounce report list.html -o list.html
ls
