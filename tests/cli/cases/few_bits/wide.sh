# A layer of more than 4608 inputs is fitted in slices, and comes closer to its outputs than nearest codes.
need wide
for method in rtn gptq; do
  ounce quantize wide.onnx --to nbits4 --method $method --accuracy-level 1 --data wide.npz -o $method.onnx --json 2> /dev/null > $method.json
done
python3 - <<'END'
import json
rtn, gptq = (json.load(open(name + ".json"))["results"][0] for name in ("rtn", "gptq"))
print("closer by 3 dB:", gptq["trial"]["sqnr_db"] > rtn["trial"]["sqnr_db"] + 3, "notes:", gptq["notes"])
END
ls
