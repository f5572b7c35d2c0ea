# What the graph alone tells, whatever the machine measures.
need masked counter
ounce advise masked.onnx --budget 2s --json 2>human > masked.json
json_get results.0.family.name results.0.risks.0.name results.0.risks.0.evidence < masked.json
ounce advise counter.onnx --json 2>human > counter.json
json_get results.0.verdict results.0.risks.0.name results.0.risks.0.advice < counter.json
