# Where nothing can be stored smaller, something can be computed on integers: the one does not end the search for the other.
need small_convs
code=0
ounce tune small_convs.onnx --data small_convs.npz --min-sqnr 15 --budget '40 models' --no-cache -o small.onnx --json 2> human > document || code=$?
[ $code -le 1 ] || cat human
python3 - <<'END'
import json
result = json.load(open("document"))["results"][0]
print("on integers:", "int8" in [trial["name"] for trial in result["trials"] if not trial["problem"]])
END
