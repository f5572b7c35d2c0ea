#!/usr/bin/env bash
# Puts the libraries of releases.txt below ROOT, for x64, arm64 and the web, checked against libraries.sha256:
#
#   fetch.sh ROOT            ROOT/<version>/lib/libonnxruntime.so, ROOT/<version>-aarch64/lib/…,
#                            ROOT/<version>-wasm/node_modules/onnxruntime-web/…
#   fetch.sh --record ROOT   adds the digests of libraries that have none yet
#
# and an emulator that runs all of the arm64 ones, ROOT/qemu/qemu-aarch64: that of Debian 12 crashes in the newest.
#
# Not .deps/onnxruntime: the newest library there is the one that the program and its tests take.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
pins=$here/libraries.sha256
record=0
[[ ${1-} == --record ]] && { record=1; shift; }
[[ $# -eq 1 ]] || { sed -n '2,10s/^# \?//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
mkdir -p "$1"
root=$(cd "$1" && pwd)

die() { echo "fetch: $*" >&2; exit 1; }

# The two ways to a library: VERSION ARCHITECTURE; its path on stdout.

library_by_pip() {
  local platforms=() tag
  for tag in 2_28 2_27 2_26 2_17 2014; do platforms+=(--platform "manylinux_${tag}_$2"); done
  platforms+=(--platform "manylinux2014_$2")
  /usr/bin/python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-cache-dir \
    --only-binary :all: --implementation cp --python-version 3.11 --abi cp311 \
    "${platforms[@]}" --dest . "onnxruntime==$1" >&2
  /usr/bin/python3 -m zipfile -e onnxruntime-*.whl .
  echo "onnxruntime/capi/libonnxruntime.so.$1"
}

library_by_npm() {
  npm pack --silent "onnxruntime-node@$1" >/dev/null
  tar -xzf onnxruntime-node-*.tgz
  local -A folder=([x86_64]=x64 [aarch64]=arm64)
  find package/bin -path "*/linux/${folder[$2]}/libonnxruntime.so*" | head -n 1
}

scratch=
trap 'rm -rf "$scratch"' EXIT

check() {  # LIBRARY VERSION ARCHITECTURE
  local digest
  [[ -f $1 ]] || die "no library of $2 for $3"
  digest=$(sha256sum "$1" | cut -d' ' -f1)
  grep -qxF "$digest  $2 $3" "$pins" 2>/dev/null && return
  if grep -q "  $2 $3\$" "$pins" 2>/dev/null; then die "$2 for $3: not the pinned library"; fi
  [[ $record -eq 1 ]] || die "$2 for $3: no digest in libraries.sha256"
  echo "$digest  $2 $3" >> "$pins"
}

fetch() {  # VERSION ARCHITECTURE CLIENT
  local place=$root/$1 library
  [[ $2 == x86_64 ]] || place+=-$2
  [[ -e $place/lib/libonnxruntime.so ]] && return
  rm -rf "$scratch"
  scratch=$(mktemp -d "$root/.fetch.XXXXXX")
  cd "$scratch"
  echo "fetching ONNX Runtime $1 for $2 by $3"
  library=$("library_by_$3" "$1" "$2")
  check "$library" "$1" "$2"
  mkdir -p "$place/lib"
  mv "$library" "$place/lib/libonnxruntime.so"
}

# The file that Node.js loads when there is one thread: with SIMD, and up to 1.18 without threads.
web_library() {  # PACKAGE
  local library=$1/dist/ort-wasm-simd.wasm
  [[ -f $library ]] || library=$1/dist/ort-wasm-simd-threaded.wasm
  echo "$library"
}

fetch_web() {  # VERSION
  local place=$root/$1-wasm package=node_modules/onnxruntime-web
  [[ $1 == - || -e $place ]] && return
  rm -rf "$scratch"
  scratch=$(mktemp -d "$root/.fetch.XXXXXX")
  cd "$scratch"
  echo "fetching ONNX Runtime Web $1 by npm"
  npm install --silent --no-audit --no-fund --ignore-scripts --no-package-lock --prefix . "onnxruntime-web@$1"
  # Other providers and other loaders: most of the package.
  find "$package/dist" -type f ! -name '*.node*.js' ! -name 'ort-wasm*' -delete
  find "$package/dist" -type f -regex '.*\.\(map\|.*\(jsep\|asyncify\|jspi\|training\).*\)' -delete
  check "$(web_library "$package")" "$1" wasm
  mkdir "$place"
  mv node_modules "$place/"
}

"$here/fetch_emulator.sh" "$root"
while read -r version client web; do
  for architecture in x86_64 aarch64; do fetch "$version" "$architecture" "$client"; done
  fetch_web "$web"
done < <(grep -v '^#' "$here/releases.txt")
