need scores
ounce publish scores.onnx -o out --data scores.npz --labels label --variants fp32,q8 --seconds 0.01 --no-edge-cases --json > result.json 2> said || true
json_shape < result.json
need matmul
ounce publish matmul.onnx -o made --variants fp32,q4 --no-bench --no-edge-cases --min-sqnr 10 --json 2> /dev/null > result.json
json_shape < result.json
json_get output layout exit_code models.0.variants.1.file models.0.variants.1.format models.0.variants.1.releases < result.json
