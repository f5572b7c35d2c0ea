# A program of the user's own: both models' outputs in a folder, a number back.
need scores scores_near
cat > score.py <<'END'
import sys, zipfile, json
folder = sys.argv[1]
names = {name: sorted(zipfile.ZipFile(f"{folder}/{name}.npz").namelist()) for name in ("original", "candidate", "labels")}
assert names == {"original": ["logits.npy"], "candidate": ["logits.npy"], "labels": ["labels.npy"]}, names
arrays = [zipfile.ZipFile(f"{folder}/{name}.npz").read("logits.npy") for name in ("original", "candidate")]
print("looked at", len(names), "files")
print(json.dumps({"same": float(arrays[0] == arrays[1])}))
END
v="ounce verify scores.onnx scores_near.onnx --data scores.npz --labels label --no-edge-cases"
exits 1 $v --metric-command 'python3 score.py' --max-drop 1% > out
grep '^same\|^top1\|^failed' out
exits 0 $v --metric-command 'python3 score.py' --max-drop same=2 > out
sed -n 2p out
exits 0 ounce verify scores.onnx scores_near.onnx --data scores.npz --no-edge-cases --metric-command 'echo 0.5; true' --max-drop 0.1% > out
sed -n 2p out
exits 2 $v --metric-command 'echo good; true'
exits 2 $v --metric-command 'false'
exits 2 $v --metric-command 'echo broken >&2; exit 3; true'
exits 2 $v --metric-command 'sleep 60; true' --metric-seconds 0.2
