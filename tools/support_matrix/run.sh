#!/usr/bin/env bash
# Everything from nothing: libraries, Python packages, measurement, held-out check.
#
#   run.sh [FOLDER]    FOLDER keeps libraries and results (.deps/support_matrix); a second run goes on in it
#
# Needs g++, Node.js with npm, pip and, for arm64, g++-aarch64-linux-gnu.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=${1:-$root/.deps/support_matrix}
mkdir -p "$folder"

if [[ ! -x $folder/venv/bin/python ]]; then
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
fi
"$here/fetch.sh" "$folder/libraries"

places=(--libraries "$folder/libraries" --headers "$root/third_party/onnxruntime"
        --emulator "$folder/libraries/qemu/qemu-aarch64")
nice "$folder/venv/bin/python" "$here/measure.py" "${places[@]}" --scratch "$folder/measured" --jobs 2
nice "$folder/venv/bin/python" "$here/verify_heldout.py" "${places[@]}" --scratch "$folder/heldout" --sample 1000
