# Half of the data calibrates, the other half judges; every method is measured or has its reason.
need signal
ounce advise signal.onnx --data signal.npz --budget 20s --json 2>human > out.json
json_get results.0.family.name results.0.size_class results.0.samples < out.json
python3 - <<'PYTHON'
import json
advice = json.load(open("out.json"))["results"][0]
assert advice["verdict"] in ("quantize", "store_small", "do_not_quantize", "unknown")
assert advice["calibration_samples"] <= 12 and advice["quality_samples"] <= 24 and advice["confidence"] == 0.9
for method in advice["methods"]:
    assert method["measured"] or method["why_not"], method
print(sorted(method["method"] for method in advice["methods"]))
print(advice["missing"])
PYTHON
