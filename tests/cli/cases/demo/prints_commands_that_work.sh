# Whoever copies a line that the demo shows gets what the demo shows.
ounce demo -o kept > out
cd kept
grep '^\$ ounce \(inspect\|contract\|quantize\|prove\)' ../out | cut -c 3- > commands
rm model.*
[ "$(wc -l < commands)" -ge 10 ]
sh -eu commands > /dev/null 2> errors
! grep -v "^Next: " errors  # contract prints JSON on stdout, and the next command on stderr
ls model.*
