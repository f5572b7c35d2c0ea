# Pictures in which a detector finds nothing: its SQNR is unknown, in the table, in the document, and in what the cache keeps.
need detector detector_rounded
export XDG_CACHE_HOME="$PWD/cache"
for turn in measured remembered; do
  ounce tune detector_rounded.onnx --data detector.empty.npz --task detect --budget '4 models' -o small.onnx --json 2> text > document
  echo "$turn: $(grep '^fp16' text | tr -s ' ' | cut -d " " -f 1-5)"
  json_get results.0.best.name results.0.best.sqnr_db < document
  exits 1 grep -i -w 'inf\|infinity\|nan' text document
done
find cache -name '*.jsonl' | wc -l
exits 1 ounce tune detector_rounded.onnx --data detector.empty.npz --task detect --max-drop 1% --budget '4 models' -o none.onnx > text
grep -o 'the closest candidate is.*' text
