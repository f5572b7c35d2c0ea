#!/usr/bin/env bash
# tests/oracle/run.sh PROGRAM FOLDER SECONDS [SEED]   Ounce against onnx.checker and ONNX Runtime, on mutants of models and on random networks, half of SECONDS each;
# what they need is installed below FOLDER, and models that they do not agree on are put there; exit 0: none
#
# Needs python3-venv. Another SEED gives other mutants; see oracle.py.
set -euo pipefail
program=$1 folder=$2 seconds=$3 seed=${4:-1}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ ! -x $folder/venv/bin/python ]]; then
  python3 -m venv "$folder/venv"
fi
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
models=()
testdata=/usr/share/libonnx-testdata/data
[[ -d $testdata ]] && models+=("$testdata")
made=$folder/models
python3 "$here/../cli/make_models.py" "$made"
models+=("$made")
[[ -d /dev/shm ]] && export TMPDIR=/dev/shm  # thousands of models are written
failed=0
nice "$folder/venv/bin/python" "$here/oracle.py" --ounce "$program" --seconds "$((seconds / 2))" --seed "$seed" --keep "$folder/disagreements" \
  "${models[@]}" || failed=1
nice "$folder/venv/bin/python" "$here/oracle.py" --random --ounce "$program" --seconds "$((seconds / 2))" --seed "$seed" \
  --keep "$folder/disagreements" || failed=1
exit $failed
