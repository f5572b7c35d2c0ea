# What the scripts of this folder agree on; they read it with `source`.
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$project/build-package   # all that is made on the way, and dist/ with what is shipped
tools=$work/tools
sources=$work/sources
dist=$work/dist
glibc=2.28                    # the oldest that the packages run on; ONNX Runtime's own wheels ask for it too
declare -A debian_name=([x86_64]=amd64 [aarch64]=arm64)

die() { echo "$(basename "$0"): $*" >&2; exit 1; }
known_architecture() { [[ -n ${debian_name[${1:-}]:-} ]] || die "'${1:-}' is neither x86_64 nor aarch64"; }
