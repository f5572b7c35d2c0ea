#!/usr/bin/env bash
# run.sh OUNCE FOLDER: tests the HTML report of the demo in headless Chromium, with axe-core. Skipped with a message if Chromium
# is missing. Installs Playwright's Python client and axe-core into FOLDER; the browser is Debian's.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
ounce=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$chromium" ]; then
  echo "Chromium is missing: the report is not tested in a browser (install it with './setup report')"
  exit 0
fi
cd "$folder"
[ -x venv/bin/python ] || python3 -m venv venv
venv/bin/pip -q install -r "$here/requirements.txt"
axe=()
if command -v npm > /dev/null; then
  [ -f node_modules/axe-core/axe.min.js ] || npm --silent --no-audit --no-fund install --prefix . axe-core@4.14.0
  axe=(--axe node_modules/axe-core/axe.min.js)
fi
python3 "$here/make_runs.py" --ounce "$ounce" --example "$here/../../examples/commands" runs
venv/bin/python "$here/browser_test.py" --ounce "$ounce" --page runs/report.html --chromium "$chromium" --shots shots "${axe[@]}"
