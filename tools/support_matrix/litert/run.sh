#!/usr/bin/env bash
# Everything from nothing: libraries, Python packages, measurement.
#
#   run.sh [FOLDER]    FOLDER keeps libraries (.deps/support_matrix_litert)
#
# Needs g++, npm, pip and, for arm64, g++-aarch64-linux-gnu.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=${1:-$here/../../../.deps/support_matrix_litert}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

if [[ ! -x $folder/venv/bin/python ]]; then
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
fi
"$here/fetch.sh" "$folder/libraries"
"$here/../fetch_emulator.sh" "$folder"
export OUNCE_QEMU_AARCH64=$folder/qemu/qemu-aarch64
nice "$folder/venv/bin/python" "$here/measure.py" "$folder/libraries"
