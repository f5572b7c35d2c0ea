need matmul
mkdir genai
cp matmul.onnx genai/decoder.onnx
echo '{"model": {"type": "llama", "decoder": {"filename": "../../model.onnx", "head_size": 64}}}' > genai/genai_config.json
echo '{}' > genai/tokenizer.json
publish="ounce publish --no-bench --no-edge-cases --min-sqnr 10 --external-data always"
$publish genai -o out --layout genai --variants q8,q4 > /dev/null
find out -type f | sort
cat out/q4/genai_config.json
ounce publish matmul.onnx -o plain --layout plain --no-bench --no-edge-cases --min-sqnr 10 > /dev/null
find plain -type f | sort
# Without FP32 another one is the default, and files with data of their own are declared.
mkdir -p hub
cp matmul.onnx hub/encoder_model.onnx
echo '{"transformers.js_config": {"use_external_data_format": 2, "kv_cache_dtype": "fp16"}}' > hub/config.json
$publish hub -o js --variants q4,fp16 > /dev/null
find js -type f | sort
cat js/config.json
ounce verify matmul.onnx js/onnx/encoder_model_q4.onnx --no-edge-cases --min-sqnr 10 > /dev/null
# A model with external data keeps it, under the name that is looked for.
need external
ounce publish external.onnx -o kept --variants fp32 --no-bench > /dev/null
find kept -type f | sort
ounce verify external.onnx kept/onnx/external.onnx --no-edge-cases --min-sqnr 100 > /dev/null
