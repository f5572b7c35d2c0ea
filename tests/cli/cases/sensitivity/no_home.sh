# Without a home folder nothing is kept: not in the folder of temporary files either, where anybody may have made it first.
need fatal
mkdir tmp
echo victim > victim.txt
mkdir tmp/ounce
unset HOME
TMPDIR=$PWD/tmp ounce sensitivity fatal.onnx --data fatal.npz --to w8 --labels label | grep '^note: measurements'
ls tmp tmp/ounce
TMPDIR=$PWD/tmp ounce sensitivity fatal.onnx --data fatal.npz --to w8 --labels label --json 2> /dev/null | json_get results.0.notes
# A link in a folder that was named is not followed.
mkdir kept
for name in $(OUNCE_CACHE=$PWD/kept ounce sensitivity fatal.onnx --data fatal.npz --to w8 --labels label > /dev/null && ls kept); do
  rm "kept/$name"
  ln -s "$PWD/victim.txt" "kept/$name"
done
OUNCE_CACHE=$PWD/kept exits 4 ounce sensitivity fatal.onnx --data fatal.npz --to w8 --labels label 2>&1 | sed "s/\.[0-9a-f]*\.jsonl/.jsonl/" >&2
cat victim.txt
