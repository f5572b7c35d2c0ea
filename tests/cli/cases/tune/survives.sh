# A journal that was spoilt, line by line: what has another shape than it should is measured anew.
need matmul fatal
t() { ounce tune matmul.onnx --data fatal.npz --budget '30 models' --cache kept -o small.onnx; }
t > /dev/null
cp kept/*.jsonl whole
for way in quality noise resolve held negative nonsense; do
  way=$way python3 - > "$(ls kept/*.jsonl)" <<'END'
import json, os
way = os.environ["way"]
for number, line in enumerate(open("whole")):
    entry = json.loads(line)
    if entry["key"].startswith(way):
        entry["value"] = []
    if way == "negative":
        entry["seconds"] = -1e300
    if way == "nonsense" and number % 2:
        print("\0\0nonsense")
    print(json.dumps(entry))
END
  code=0
  t > /dev/null 2> said || code=$?
  echo "$way: exit $code"
  cat said
  # … and only once: a second run adds nothing.
  cp kept/*.jsonl measured
  t > /dev/null
  cmp measured kept/*.jsonl
done
