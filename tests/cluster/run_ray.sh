#!/usr/bin/env bash
# Tests ounce.ray on a Ray cluster of three nodes on this machine: run_ray.sh LIBRARY EXAMPLE FOLDER [ARGUMENT of ray_test.py ...]
# The folder gets a virtual environment with Ray (700 MB by pip), which is kept.
set -euo pipefail
library=$(realpath "$1") example=$(realpath "$2") folder=$3
shift 3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ ! -x $folder/bin/ray ]]; then
  python3 -m venv "$folder"
  "$folder/bin/pip" install -q 'ray[tune]>=2.40' numpy onnxruntime
fi
OUNCE_LIBRARY=$library PYTHONPATH=$here/../../python exec "$folder/bin/python" "$here/ray_test.py" --example "$example" "$@"
