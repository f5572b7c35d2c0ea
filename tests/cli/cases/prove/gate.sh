# What publish and tune state is the gate that was passed, on the samples that it was passed on.
need fatal
plain() { sed -e 's/[0-9][0-9]* dB/<dB>/g' -e 's/result .*/result …/' -e 's/  top1_accuracy .*/  top1_accuracy …/'; }
ounce publish fatal.onnx -o out --data fatal.npz --labels label --variants fp16 --no-bench --no-edge-cases > /dev/null
exits 0 ounce prove out --source fatal.onnx --data fatal.npz --labels label | plain
for field in x label; do
  python3 - $field <<END
import sys, zipfile
with zipfile.ZipFile('fatal.npz') as old, zipfile.ZipFile('other.npz', 'w') as new:
    for name in old.namelist():
        data = bytearray(old.read(name))
        if name == sys.argv[1] + '.npy':
            data[-8] ^= 1
        new.writestr(name, bytes(data))
END
  exits 1 ounce prove out --source fatal.onnx --data other.npz --labels label | grep gate
done
exits 5 ounce prove out --source fatal.onnx --data fatal.npz | grep gate
exits 5 ounce prove out --json 2> /dev/null > result.json
json_shape < result.json
# A mix of tune names its nodes, and comes out the same again.
ounce tune fatal.onnx --data fatal.npz --labels label --max-drop 15% --confidence 60% --budget '40 models' --no-cache -o tuned.onnx > /dev/null
exits 0 ounce prove tuned.onnx --source fatal.onnx --data fatal.npz --labels label | plain
