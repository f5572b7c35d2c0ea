#!/usr/bin/env bash
# Puts ONNX Runtime where the build looks for it, checked against tools/onnxruntime.sha256:
#
#   .deps/onnxruntime/include/                        the headers, once
#   .deps/onnxruntime/<version>/lib/libonnxruntime.so the library; <version>/include -> ../include
#
#   tools/fetch_onnxruntime.sh                        the default version
#   tools/fetch_onnxruntime.sh 1.22.0 1.30.0:aarch64  these; a foreign one lands in 1.30.0-aarch64/
#
# The library is the one inside the Python wheel (for old versions: inside the npm package). The
# headers are in Debian 13's libonnxruntime-dev, taken from the mirror that apt already uses.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
pins=$PWD/tools/onnxruntime.sha256
root=$PWD/.deps/onnxruntime
machine=$(uname -m)

die() { echo "fetch_onnxruntime: $*" >&2; exit 1; }

as_root() {
  if [[ $(id -u) -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

# The two ways to a library: VERSION ARCHITECTURE; the library's path on stdout.

library_by_pip() {
  /usr/bin/python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-cache-dir \
    --only-binary :all: --implementation cp --python-version 3.11 --abi cp311 \
    --platform "manylinux_2_28_$2" --platform "manylinux_2_27_$2" --dest . "onnxruntime==$1" >&2
  /usr/bin/python3 -m zipfile -e onnxruntime-*.whl .
  echo "onnxruntime/capi/libonnxruntime.so.$1"
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
  [[ -e $place/lib/libonnxruntime.so ]] && return
  read -r digest client < <(awk -v v="$1" -v a="$2" '$2 == v && $3 == a { print $1, $4 }' "$pins") ||
    die "no digest for version $1 on $2 in tools/onnxruntime.sha256"

  echo "setup: fetching ONNX Runtime $1 for $2 by $client"
  enter_empty_directory
  library=$("library_by_$client" "$1" "$2")
  sha256sum --check --quiet <<< "$digest  $library" || die "$library: not the pinned library"
  mkdir -p "$place/lib"
  ln -sfn ../include "$place/include"
  mv "$library" "$place/lib/libonnxruntime.so"
}

debian_mirror() {
  # shellcheck disable=SC2016  # apt expands it
  apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -n 1
}

fetch_headers() {
  [[ -e $root/include ]] && return
  echo "setup: fetching the headers of ONNX Runtime by apt"
  local mirror
  mirror=$(debian_mirror)
  [[ -n $mirror ]] || { as_root apt-get update -qq; mirror=$(debian_mirror); }
  [[ -n $mirror ]] || die "apt knows no Debian mirror to take libonnxruntime-dev from"

  enter_empty_directory
  mkdir -p lists/partial cache/archives/partial include
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" > sources.list
  # A view of Debian 13 in this directory; the system's own package lists stay as they are.
  local apt=(apt-get -qq -o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=-
             -o "Dir::State::lists=$PWD/lists" -o "Dir::Cache=$PWD/cache"
             -o "APT::Sandbox::User=$(id -un)" -o Acquire::Languages=none)
  "${apt[@]}" update
  "${apt[@]}" download libonnxruntime-dev
  dpkg -x libonnxruntime-dev_*.deb .
  awk '$2 ~ /^include\// { print $1 "  " $2 }' "$pins" > headers.sha256
  while read -r _ header; do cp "usr/include/onnxruntime/${header#include/}" include; done < headers.sha256
  sha256sum --check --quiet headers.sha256 || die "libonnxruntime-dev: not the pinned headers"
  mv include "$root/include"
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
fetch_headers
for wanted in "$@"; do
  architecture=$machine
  [[ $wanted == *:* ]] && architecture=${wanted#*:}
  fetch_library "${wanted%%:*}" "$architecture"
done
