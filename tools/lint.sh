#!/usr/bin/env bash
# tools/lint.sh BUILD      format, layer rule, fields in messages, wording, spelling, links of the documentation, counts of the source tree and
#                          clang-tidy; BUILD is a configured build folder
# tools/lint.sh --format   rewrites the sources in the project's format
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sources() {
  find src include tests bench -name '*.h' -o -name '*.hpp' -o -name '*.cpp'
}

# The compiled files, one per line.
compiled() {
  python3 -c 'import json, sys; print(*sorted({e["file"] for e in json.load(sys.stdin)}), sep="\n")' \
    < "$1/compile_commands.json"
}

if [[ $1 == --format ]]; then
  sources | xargs clang-format -i
  exit
fi

failed=0
sources | xargs clang-format --dry-run --Werror || failed=1
tools/check_layers.py || failed=1
tools/check_words.py || failed=1
tools/check_messages.py || failed=1
tools/check_language.py || failed=1
tools/check_spelling.py || failed=1
tools/check_links.py || failed=1
tools/source_counts.py || failed=1
# -w: the build reports the compiler's own warnings. Kernels are checked for one instruction set; the source is the same for all.
# The filter drops clang-tidy's count of hidden warnings.
compiled "$1" | xargs -n 1 -P "$(nproc)" \
  clang-tidy --quiet --extra-arg=-w --extra-arg=-DHWY_COMPILE_ONLY_STATIC -p "$1" \
  2> >(grep -v 'warnings\? generated' >&2) || failed=1
exit $failed
