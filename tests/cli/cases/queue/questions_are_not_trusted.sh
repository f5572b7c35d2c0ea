# A worker declines a question that would run a program, load a library, or read another folder.
need fatal
mkdir inside
cp fatal.onnx fatal.npz inside
ln -s /etc/hostname inside/link.npz
here=$PWD
ask() { printf '{"format":"ounce.question","version":1,"identity":"","measure":"survey","session":%s}\n' "$1"; }
session() { printf '{"verb":"%s","model":"%s","options":{"to":"w8"%s}}' "$1" "$2" "$3"; }
{
  echo 'nonsense'
  echo '{"format":"ounce.question","version":2}'
  ask '"text"'
  ask "$(session quantize "$here/inside/fatal.onnx" '')"
  ask "$(session sensitivity "$here/inside/fatal.onnx" ',"metric-command":"touch run"')"
  ask "$(session sensitivity "$here/inside/fatal.onnx" ',"runtime":"/tmp/evil.so"')"
  ask "$(session sensitivity "$here/inside/fatal.onnx" ',"output":"written"')"
  ask "$(session sensitivity "$here/inside/fatal.onnx" ',"no-isolate":true')"
  ask "$(session sensitivity "$here/fatal.onnx" '')"
  ask "$(session sensitivity "inside/fatal.onnx" '')"
  ask "$(session sensitivity "$here/inside/fatal.onnx" ",\"data\":[\"$here/fatal.npz\"]")"
  ask "$(session sensitivity "$here/inside/fatal.onnx" ",\"data\":[\"x=$here/inside/link.npz\"]")"
  ask "$(session sensitivity "$here/inside/fatal.onnx" ',"samples":[{}]')"
  ask "$(session sensitivity "$here/inside/fatal.onnx" '')"
} > questions
ounce measure questions --root inside | sed 's/ounce [0-9.]*/ounce <version>/'
ls
