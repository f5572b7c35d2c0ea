# 'ounce', 'ounce help' and 'ounce --help' are the same, and so are 'ounce help VERB' and 'ounce VERB --help'.
ounce > a
ounce help > b
ounce --help > c
cmp a b
cmp a c
grep -c '^  quantize  ' a
for verb in quantize "contract set" "contract show" "shadow report" "calibrate merge"; do
  ounce help $verb > a
  ounce $verb --help > b
  cmp a b
  grep Usage: a
done
exits 2 ounce help quantise
exits 2 ounce help contract sett
