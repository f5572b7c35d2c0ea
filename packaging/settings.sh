# Settings for the scripts of this folder, which read this file with `source`.
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$project/build-package   # intermediate files, and dist/ with the packages
tools=$work/tools
sources=$work/sources
dist=$work/dist
glibc=2.28                    # the oldest supported version, as for ONNX Runtime's wheels
declare -A debian_name=([x86_64]=amd64 [aarch64]=arm64)

die() { echo "$(basename "$0"): $*" >&2; exit 1; }
known_architecture() { [[ -n ${debian_name[${1:-}]:-} ]] || die "'${1:-}' is neither x86_64 nor aarch64"; }
