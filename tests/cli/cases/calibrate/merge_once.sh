# Each sample counts once: parts record what they cover. What is covered twice is refused, what is missing is named.
need scores
for part in 1 2 3; do ounce calibrate scores.onnx --data scores.npz --shard $part/3 -o $part.ranges > /dev/null; done
exits 2 ounce calibrate merge 1.ranges 1.ranges -o merged.ranges
cp 1.ranges copy.ranges
exits 2 ounce calibrate merge 1.ranges 2.ranges copy.ranges -o merged.ranges
# The same data by another name, and other ways to take a part of it.
cp scores.npz renamed.npz
ounce calibrate scores.onnx --data renamed.npz --first 2 --samples 3 -o middle.ranges > /dev/null
exits 2 ounce calibrate merge 1.ranges middle.ranges -o merged.ranges
ounce calibrate scores.onnx --data renamed.npz --part 1/2 --batch 2 -o half.ranges > /dev/null
exits 2 ounce calibrate merge middle.ranges half.ranges -o merged.ranges
ls merged.ranges 2> /dev/null && exit 1
ounce calibrate merge 3.ranges 1.ranges -o some.ranges | grep -v '^Next: ' | tail -n 3
ounce calibrate merge 3.ranges 1.ranges -o some.ranges --json 2> /dev/null | json_get results.0.samples results.0.notes
ounce calibrate merge some.ranges 2.ranges -o merged.ranges | grep -v '^Next: ' | tail -n 2
ounce calibrate scores.onnx --data scores.npz -o whole.ranges > /dev/null
cmp whole.ranges merged.ranges
# Other data may be added.
python3 - <<'END'
import zipfile
with zipfile.ZipFile('scores.npz') as old, zipfile.ZipFile('other.npz', 'w') as new:
    for name in old.namelist():
        data = bytearray(old.read(name))
        data[-8] ^= 1
        new.writestr(name, bytes(data))
END
ounce calibrate scores.onnx --data other.npz -o other.ranges > /dev/null
ounce calibrate merge whole.ranges other.ranges -o both.ranges --json 2> /dev/null | json_get results.0.samples results.0.notes
# A file that does not say what it covers can be used, but not merged.
python3 - <<'END'
import json
ranges = json.load(open('1.ranges'))
del ranges['covers']
json.dump(ranges, open('old.ranges', 'w'))
END
exits 2 ounce calibrate merge old.ranges 2.ranges -o merged.ranges
