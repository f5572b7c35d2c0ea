# Lines of the journal that are none are left out.
need fatal
s="ounce sensitivity fatal.onnx --to w8 --data fatal.npz --cache kept --json"
$s 2> /dev/null > first
{ printf 'nonsense\n{"key": 3}\n\377\376\n'; head -n 4 kept/*.jsonl; printf '{"key":"cut","val'; } > journal
mv journal kept/*.jsonl
$s 2> /dev/null | json_get results.0.recalled
$s 2> /dev/null | json_get results.0.measured
