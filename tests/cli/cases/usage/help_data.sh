# Verbs that refuse to run without data say so.
for verb in tune calibrate "contract check" sensitivity quantize verify; do
  echo "$verb: $(ounce $verb --help-all | tr -s ' \n' ' ' | grep -o 'one input ([^)]*)' | head -n 1)"
done
