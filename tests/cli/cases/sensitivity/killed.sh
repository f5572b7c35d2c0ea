# What a run that was killed has measured is not measured again.
need chain
s="ounce sensitivity chain.onnx --to w8 --data chain.npz --samples 8 --top 40 --json"
$s --cache kept > /dev/null 2>&1 &
run=$!
while [ "$(cat kept/*.jsonl 2> /dev/null | wc -l)" -lt 20 ]; do sleep 0.02; done
kill -KILL $run
wait $run 2> /dev/null || true
$s --cache kept 2> /dev/null > document
$s --no-cache 2> /dev/null > whole
python3 - <<'END'
import json
again, whole = (json.load(open(name))["results"][0] for name in ("document", "whole"))
print("some recalled:", 15 <= again["recalled"] < whole["measured"])
print("the others measured:", again["measured"] + again["recalled"] == whole["measured"])
print("the same:", again["groups"] == whole["groups"] and again["exclude"] == whole["exclude"])
END
