# One layer stands no INT8: it keeps 16 bits, the others do not, and answers stay the same.
need fatal
t() { ounce tune fatal.onnx --data fatal.npz --labels label --max-drop 0.5% --confidence none --objective size --budget '60 models' --cache kept -o small.onnx --json; }
t 2> /dev/null > document
python3 - <<'END'
import json, os
result = json.load(open("document"))["results"][0]
formats = {layer["name"]: layer["format"] for layer in result["layers"]}
print("third:", formats.pop("third"))
print("the others are smaller:", set(formats.values()) <= {"w8", "w4"})
print("samples:", result["search_samples"], result["held_out_samples"])
print("passed:", result["passed"], result["best"]["passed"], result["best"]["held_out"], result["held_out"]["passed"])
print("not on the disk:", result["best"]["bytes"] - os.path.getsize(result["output"]), "of the bytes that are reported")
print("one best:", sum(trial["name"] == result["best"]["name"] for trial in result["trials"]))
END
ounce verify fatal.onnx small.onnx --data fatal.npz --labels label --max-drop 0.5% --min-agreement 99% > /dev/null
# All that is known: the same model, with nothing measured, and the report says as much.
cp small.onnx first.onnx
cp kept/*.jsonl journal
t 2> /dev/null > document
cmp first.onnx small.onnx
cmp journal kept/*.jsonl
python3 - <<'END'
import json
result = json.load(open("document"))["results"][0]
print("recalled:", result["recalled"] > 10)
print("which runtime is known:", result["runtime_version"] != "")
END
