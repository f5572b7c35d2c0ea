#!/usr/bin/env bash
# report_picture.sh OUNCE FILE.png: the top of a page that 'ounce report' draws of the embedded example, for README.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
ounce=$(realpath "$1")
picture=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 "$root/tests/report/make_runs.py" --ounce "$ounce" --example "$root/examples/commands" "$folder/runs" > /dev/null
cd "$folder/runs"
"$ounce" report quantize.json verify.json bench.json -o picture.html > /dev/null
chromium --headless --no-sandbox --hide-scrollbars --disable-gpu --window-size=1000,830 --user-data-dir="$folder/browser" \
  --screenshot="$folder/picture.png" "file://$folder/runs/picture.html" > /dev/null 2>&1
cp "$folder/picture.png" "$picture"
