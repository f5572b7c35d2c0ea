# A folder as transformers.js looks for it: every variant, configuration, what belongs to it, and a model card.
need matmul
mkdir -p hub/onnx hub/1_Pooling
cp matmul.onnx hub/onnx/model.onnx
cp matmul.onnx hub/onnx/model_bnb4.onnx
printf '{"model_type": "bert", "layer_norm_eps": 1e-12}' > hub/config.json
echo '{}' > hub/tokenizer.json
echo '{}' > hub/1_Pooling/config.json
printf -- '---\nlicense: mit\n---\n# Mine\n\nAbout it.\n' > hub/README.md
plain() { sed "s/[0-9][0-9.]* dB/<dB>/g"; }
ounce publish hub -o out --no-bench --no-edge-cases --min-sqnr 10 | plain
find out -type f | sort
cmp hub/config.json out/config.json
cmp matmul.onnx out/onnx/model.onnx
plain < out/README.md
# Again, over it: the same bytes, and one section in the card.
cp -r out first
cp out/README.md hub/README.md
ounce publish hub -o out --no-bench --no-edge-cases --min-sqnr 10 --replace > /dev/null
diff -r first out
ls
