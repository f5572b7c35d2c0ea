#!/usr/bin/env bash
# Puts the libraries of releases.txt below ROOT, checked against libraries.sha256, and the schema module of the newest wheel:
#
#   fetch.sh ROOT            ROOT/x64-litert-2.3.0/libLiteRt.so, ROOT/arm64-tflite-2.9.0/libtensorflowlite_c.so …
#   fetch.sh --record ROOT   adds the digests of libraries that have none yet
#
# A release whose library has no C API of use is a Python environment: its library.python names the file of the kernels.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
pins=$here/libraries.sha256
record=0
[[ ${1-} == --record ]] && { record=1; shift; }
[[ $# -eq 1 ]] || { sed -n '2,7s/^# \?//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
mkdir -p "$1"
root=$(cd "$1" && pwd)

die() { echo "fetch: $*" >&2; exit 1; }

scratch=
trap 'rm -rf "$scratch"' EXIT

check() {  # LIBRARY NAME
  local digest
  [[ -f $1 ]] || die "no library of $2"
  digest=$(sha256sum "$1" | cut -d' ' -f1)
  grep -qxF "$digest  $2" "$pins" 2>/dev/null && return
  if grep -q "  $2\$" "$pins" 2>/dev/null; then die "$2: not the pinned library"; fi
  [[ $record -eq 1 ]] || die "$2: no digest in libraries.sha256"
  echo "$digest  $2" >> "$pins"
}

wheel() {  # VERSION ARCHITECTURE: unpacked into the current folder
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-cache-dir --only-binary :all: \
    --implementation cp --python-version 3.11 --abi cp311 --platform "manylinux_2_27_$2" --platform "manylinux_2_17_$2" \
    --dest . "ai-edge-litert==$1"
  python3 -m zipfile -e ai_edge_litert-*.whl .
}

fetch() {  # MACHINE RUNTIME VERSION CLIENT
  local name=$1-$2-$3 library
  local -A architecture=([x64]=x86_64 [arm64]=aarch64) folder=([x64]=linux_amd64 [arm64]=linux_arm64)
  [[ ! -e $root/$name ]] || return 0
  scratch=$(mktemp -d "$root/.fetch.XXXXXX")
  cd "$scratch"
  echo "fetching $2 $3 for $1 by $4"
  mkdir place
  case $4 in
    pip)
      wheel "$3" "${architecture[$1]}"
      library=ai_edge_litert/libLiteRt.so
      check "$library" "$name"
      mv "$library" place/
      ;;
    npm)
      npm pack --silent tfjs-tflite-node@0.0.2 > /dev/null
      tar -xzf tfjs-tflite-node-*.tgz
      library=package/cc_deps/${folder[$1]}/libtensorflowlite_c.so
      check "$library" "$name"
      mv "$library" place/
      ;;
    python)
      # Not moved afterwards: a virtual environment contains its own path.
      python3 -m venv "$root/$name/venv"
      "$root/$name/venv/bin/pip" install --quiet --disable-pip-version-check "ai-edge-litert==$3" || { rm -rf "${root:?}/$name"; die "no $3"; }
      library=$(find "$root/$name/venv" -path '*/ai_edge_litert/*_pywrap_tensorflow_interpreter_wrapper*.so' -o -path '*/ai_edge_litert/libpywrap_litert_common.so' | sort | tail -n 1)
      check "$library" "$name"
      echo "$library" > "$root/$name/library.python"
      return 0
      ;;
  esac
  mv place "$root/$name"
  rm -rf "$scratch"
}

newest=
while read -r machine runtime version client; do
  fetch "$machine" "$runtime" "$version" "$client"
  [[ $runtime == litert ]] && newest=$version
done < <(grep -v '^#' "$here/releases.txt")
if [[ ! -e $root/schema ]]; then
  scratch=$(mktemp -d "$root/.fetch.XXXXXX")
  cd "$scratch"
  wheel "$newest" "$(uname -m)"
  mkdir schema
  mv ai_edge_litert/schema_py_generated.py schema/
  mv schema "$root/"
fi
