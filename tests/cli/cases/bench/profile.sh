# Where the time goes: by op and by node, of each model; nothing else changes.
need scores scores_near
ounce bench scores.onnx scores_near.onnx -r 20 --cold-starts 0 --profile --json 2>human > document
json_shape < document | grep profile
json_get results.0.models.0.profile.integer_share < document
grep -c "of it in INT8 kernels" human
