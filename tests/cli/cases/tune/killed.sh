# A run that was killed goes on where it was: what it measured is not measured again, and the model on the disk is whole.
need matmul fatal
t() { exec ounce tune matmul.onnx --data fatal.npz --budget '30 models' --cache kept -o small.onnx --json; }
t > /dev/null 2>&1 &
run=$!
while [ ! -e small.onnx ] && kill -0 $run; do sleep 0.02; done
kill -KILL $run
wait $run 2> /dev/null || true
ounce verify matmul.onnx small.onnx --data fatal.npz --min-sqnr 30 > /dev/null
journal=$(ls kept/*.jsonl)
lines=$(wc -l < "$journal")
printf '{"key":"cut off in the mid' >> "$journal"
(t) 2> /dev/null > document
lines=$lines python3 - <<'END'
import json, os
result = json.load(open("document"))["results"][0]
print("all recalled:", result["recalled"] >= int(os.environ["lines"]) > 1)
print("passed:", result["passed"])
END
ounce verify matmul.onnx small.onnx --data fatal.npz --min-sqnr 30 > /dev/null
