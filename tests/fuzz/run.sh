#!/usr/bin/env bash
# tests/fuzz/run.sh BUILD SECONDS   fuzzes with the corpus kept in BUILD; exit 0: nothing found
#
# An input that fails is put into BUILD/failures. Make it small (fuzz_reader -minimize_crash=1 FILE), give it a name
# that says what it is, and add it to tests/fuzz/regressions: from then on every `make test` replays it.
set -euo pipefail
build=$1 seconds=$2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$build"/{corpus,failures}

"$build/tests/fuzz/make_seeds" "$build/seeds" "$source"/examples/*/*.onnx
corpora=("$build/corpus" "$build/seeds" "$source/tests/fuzz/regressions")
testdata=/usr/share/libonnx-testdata/data
[[ -d $testdata ]] && corpora+=("$testdata")

"$build/tests/fuzz/fuzz_reader" -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=2048 \
  -print_final_stats=1 -artifact_prefix="$build/failures/" "${corpora[@]}"
