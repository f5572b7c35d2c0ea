need scores
ounce publish scores.onnx -o out --data scores.npz --labels label --variants fp32,q8 --seconds 0.01 --no-edge-cases --json > result.json 2> said || true
json_shape < result.json
need matmul
ounce publish matmul.onnx -o made --variants fp32,q4 --no-bench --no-edge-cases --min-sqnr 10 --json 2> /dev/null > result.json
json_shape < result.json
json_get results.0.output results.0.layout results.0.passed results.0.models.0.variants.1.file results.0.models.0.variants.1.format results.0.models.0.variants.1.releases < result.json
