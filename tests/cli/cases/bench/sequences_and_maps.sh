# What gives sequences and maps is timed like everything else.
need zipmap
ounce bench zipmap.onnx --data zipmap.npz -r 20 --cold-starts 1 --json 2> /dev/null | json_get results.0.models.0.model results.0.models.0.batches.0.latency.calls
