# What bash offers where somebody presses the tab key at the end of these words.
ounce completion bash > script
: > some.onnx
bash -eu <<'END'
source ./script
compopt() { :; }
offered() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _ounce
  printf '%s| %s\n' "$*" "$(printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' ')"
}
offered ounce inspec
offered ounce quantize --mem
offered ounce quantize --memory ''
offered ounce quantize --memory = l
offered ounce quantize --min-bytes ''
offered ounce quantize som
offered ounce quantize -o som
offered ounce contract ''
offered ounce contract set --layout n
offered ounce check --conf
offered ounce completion ''
END
