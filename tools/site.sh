#!/usr/bin/env bash
# site.sh FOLDER: the documentation as a static site, FOLDER/html/index.html. MkDocs comes from PyPI into FOLDER.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(realpath "$1")
[ -x "$folder/venv/bin/mkdocs" ] || { python3 -m venv "$folder/venv" && "$folder/venv/bin/pip" -q install mkdocs==1.6.1; }
python3 "$root/tools/site_pages.py" "$root" "$folder/pages"
"$folder/venv/bin/mkdocs" build --strict --quiet --config-file "$folder/pages/mkdocs.yml" --site-dir "$folder/html"
echo "$folder/html/index.html"
