#!/usr/bin/env bash
# Puts the library of a runtime where the build looks for it, checked against its pins (tools/RUNTIME.sha256):
#
#   tools/fetch_library.sh onnxruntime                        .deps/onnxruntime/<version>/lib/libonnxruntime.so, the default version
#   tools/fetch_library.sh onnxruntime 1.22.0 1.30.0:aarch64  these; a foreign one lands in 1.30.0-aarch64/
#   tools/fetch_library.sh litert                             .deps/litert/<version>/lib/libLiteRt.so
#
# The library is the one inside the Python wheel (for old versions of ONNX Runtime: inside the npm package).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
runtime=${1:?usage: fetch_library.sh RUNTIME [VERSION[:ARCHITECTURE] …]}
shift
pins=$PWD/tools/$runtime.sha256
root=$PWD/.deps/$runtime
machine=$(uname -m)

die() { echo "fetch_library: $*" >&2; exit 1; }

case $runtime in
  onnxruntime) name="ONNX Runtime" file=libonnxruntime.so wheel=onnxruntime ;;
  litert) name=LiteRT file=libLiteRt.so wheel=ai-edge-litert ;;
  *) die "no runtime '$runtime'" ;;
esac

as_root() {
  if [[ $(id -u) -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

# The two ways to a library: VERSION ARCHITECTURE; the library's path on stdout.

library_by_pip() {
  /usr/bin/python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-cache-dir \
    --only-binary :all: --implementation cp --python-version 3.11 --abi cp311 \
    --platform "manylinux_2_28_$2" --platform "manylinux_2_27_$2" --dest . "$wheel==$1" >&2
  /usr/bin/python3 -m zipfile -e ./*.whl .
  find . -name "$file" -o -name "$file.$1"
}

library_by_npm() {
  if ! command -v npm >/dev/null; then
    as_root apt-get update -qq >&2
    as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends npm >&2
  fi
  npm pack --silent "onnxruntime-node@$1" >/dev/null
  tar -xzf onnxruntime-node-*.tgz
  local -A folder=([x86_64]=x64 [aarch64]=arm64)
  echo package/bin/napi-v*/linux/"${folder[$2]}"/libonnxruntime.so*
}

fetch_library() {  # VERSION ARCHITECTURE
  local place=$root/$1 digest client library
  [[ $2 == "$machine" ]] || place+=-$2
  [[ -e $place/lib/$file ]] && return
  read -r digest client < <(awk -v v="$1" -v a="$2" '$2 == v && $3 == a { print $1, $4 }' "$pins") ||
    die "no digest for version $1 on $2 in tools/$runtime.sha256"

  echo "setup: fetching $name $1 for $2 by $client"
  enter_empty_directory
  library=$("library_by_$client" "$1" "$2")
  sha256sum --check --quiet <<< "$digest  $library" || die "$library: not the pinned library"
  mkdir -p "$place/lib"
  mv "$library" "$place/lib/$file"
}

scratch=
trap 'rm -rf "$scratch"' EXIT
enter_empty_directory() {
  rm -rf "$scratch"
  mkdir -p "$root"
  scratch=$(mktemp -d "$root/.fetch.XXXXXX")
  cd "$scratch"
}

[[ $# -gt 0 ]] || set -- "$(awk '$1 !~ /^#/ { print $2; exit }' "$pins")"
for wanted in "$@"; do
  architecture=$machine
  [[ $wanted == *:* ]] && architecture=${wanted#*:}
  fetch_library "${wanted%%:*}" "$architecture"
done
