# A second run measures nothing and says the same; other data, or none kept, is measured anew.
need fatal
s="ounce sensitivity fatal.onnx --to w8 --data fatal.npz --labels label --json"
steady() { grep -v -e '"duration_ns"' -e '"measured": [0-9]' -e '"recalled"'; }
$s --cache kept 2> /dev/null > first
$s --cache kept 2> /dev/null > second
steady < first > a
steady < second > b
cmp a b
json_get results.0.measured results.0.recalled < first
json_get results.0.measured results.0.recalled < second
$s --cache kept --samples 32 2> /dev/null | json_get results.0.recalled
$s --no-cache 2> /dev/null | json_get results.0.recalled
OUNCE_CACHE=$PWD/kept $s 2> /dev/null | json_get results.0.measured
ls kept | wc -l
