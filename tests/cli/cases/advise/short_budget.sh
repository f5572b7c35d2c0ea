# However short the budget and however busy the machine: "do not quantize" needs a measurement of everything that could be faster,
# and nothing is said about the speed of a method that was not timed.
need signal
for budget in 0.1s 0.5s 2s 6s; do
  ounce advise signal.onnx --data signal.npz --budget $budget --json 2> human > out.json
  python3 - <<'PYTHON'
import json
advice = json.load(open("out.json"))["results"][0]
human = open("human").read()
methods = {method["method"]: method for method in advice["methods"]}
timed = lambda method: method["measured"] and method["speed_up"] is not None and method["speed_up"]["reliable"]
open_methods = [name for name in ("int8", "int8-dynamic") if methods[name]["out_of_time"] or (methods[name]["measured"] and not timed(methods[name]))]
if advice["verdict"] == "do_not_quantize":
    assert not open_methods, open_methods
if advice["verdict"] == "unknown":
    assert advice["headline"].startswith("no recommendation yet: "), advice["headline"]
if any(method["out_of_time"] for method in advice["methods"][:3]):
    assert advice["budget_needed_ns"] > advice["budget_ns"]
for method in methods.values():
    if method["measured"] and not timed(method):
        assert f"{method['method']} is as fast" not in human
PYTHON
done
echo checked
