# One layer stands no INT8: it keeps 16 bits, the others do not, and answers stay the same. Measurements serve every objective.
need fatal
t="ounce tune fatal.onnx --data fatal.npz --labels label --max-drop 0.5% --cache kept --json"
for objective in size latency; do
  budget=$([ $objective = size ] && echo 20s || echo 4s)
  $t --objective $objective --budget $budget -o $objective.onnx 2> /dev/null > document
  python3 - <<'END'
import json, os
result = json.load(open("document"))["models"][0]
formats = {layer["name"]: layer["format"] for layer in result["layers"]}
print("third:", formats.pop("third"))
print("the others are smaller:", set(formats.values()) <= {"w8", "w4"} if "size" in result["output"] else "-")
print("samples:", result["search_samples"], result["held_out_samples"])
print("passed:", result["passed"], result["best"]["passed"], result["best"]["held_out"], result["held_out"]["passed"])
print("bytes as reported:", result["best"]["bytes"] == os.path.getsize(result["output"]) or
      (result["best"]["bytes"], os.path.getsize(result["output"])))
print("one best:", sum(trial["name"] == result["best"]["name"] for trial in result["trials"]))
END
  ounce verify fatal.onnx $objective.onnx --data fatal.npz --labels label --max-drop 0.5% --min-agreement 99% > /dev/null
done
# All that is known: the same model, with nothing measured, and the report says as much.
cp size.onnx first.onnx
$t --objective size --budget 20s -o size.onnx 2> human > document
cmp first.onnx size.onnx
python3 - <<'END'
import json
result = json.load(open("document"))["models"][0]
print("quickly:", result["seconds"] < 5, "recalled:", result["recalled"] > 10)
print("which runtime is known:", result["runtime_version"] != "")
END
