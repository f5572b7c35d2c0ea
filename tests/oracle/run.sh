#!/usr/bin/env bash
# tests/oracle/run.sh PROGRAM FOLDER SECONDS [SEED]   compares Ounce with onnx.checker and ONNX Runtime on mutants of models and on random networks, half of SECONDS each.
# Installs the other programs in FOLDER, and writes the models there on which they disagree; exit 0: none
#
# Needs python3-venv. SEED selects other mutants; see oracle.py.
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
