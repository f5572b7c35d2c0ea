# Its figures differ from run to run; other cases look at them.
ounce demo > out
grep '^\$' out
grep -c . out > lines && [ "$(cat lines)" -gt 60 ]
rm out lines
ls -A
