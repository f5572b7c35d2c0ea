# One line each, and nothing is written.
need matmul
p="ounce publish --no-bench --no-edge-cases --variants fp32"
mkdir -p hub/onnx
cp matmul.onnx hub/onnx/model.onnx
exits 2 $p hub -o hub/out
exits 2 $p hub -o hub
exits 2 $p hub -o .
mkdir there && touch there/file
exits 2 $p hub -o there
exits 2 $p hub -o matmul.onnx
exits 2 $p hub -o matmul.onnx --replace
exits 2 $p hub -o out --variants q5
exits 2 $p hub -o out --layout nowhere
exits 4 $p nowhere -o out
mkdir empty
exits 2 $p empty -o out
# Configuration that is none.
for text in 'not JSON' '[]' '{"transformers.js_config": 1}' "$(printf '{"a":%.0s' $(seq 1000))"; do
  printf '%s' "$text" > hub/config.json
  exits 2 ounce publish hub -o out --no-bench --no-edge-cases --variants q8 > /dev/null
done
rm hub/config.json
echo '<!-- ounce:begin -->' > hub/README.md
exits 2 $p hub -o out
rm hub/README.md
# Links that lead out of the folder, pipes, and folders without end.
echo secret > secret
ln -s ../secret hub/tokenizer.json
ln -s / hub/root
ln -s hub hub/loop
mkfifo hub/pipe
$p hub -o out
find out | sort
rm -r out
# Two of one name.
cp -r hub/onnx hub/other
exits 2 $p hub -o out
echo '{"model": {"decoder": {"filename": "x"}, "vision": {"filename": "y"}}}' > hub/genai_config.json
mv hub/other/model.onnx hub/other/vision.onnx
exits 2 $p hub -o out --layout genai
ls -A
