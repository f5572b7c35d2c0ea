#!/usr/bin/env bash
# tests/fuzz/run.sh BUILD SECONDS [TARGET…]   fuzzes each target for SECONDS, all of them if none is named,
# with the corpora kept in BUILD; exit 0: nothing found
#
# An input that fails is put into BUILD/failures/TARGET. Make it small (fuzz_TARGET -minimize_crash=1 FILE), give it a
# name that says what it is, and add it to tests/fuzz/regressions/TARGET: from then on every `make test` replays it.
set -euo pipefail
build=$1 seconds=$2
shift 2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
targets=("$@")
[[ $# -gt 0 ]] || targets=(model npy npz zip wav contract ranges journal)

found=0
for target in "${targets[@]}"; do
  mkdir -p "$build"/{corpus,failures}/"$target"
  corpora=("$build/corpus/$target")
  for folder in "$source"/tests/fuzz/{seeds,regressions}/"$target"; do
    [[ -d $folder ]] && corpora+=("$folder")
  done
  if [[ $target == model ]]; then
    "$build/tests/fuzz/make_seeds" "$build/seeds" "$source"/examples/*/*.onnx
    corpora+=("$build/seeds")
    testdata=/usr/share/libonnx-testdata/data
    [[ -d $testdata ]] && corpora+=("$testdata")
  fi
  echo "fuzzing $target for $seconds s"
  "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="$build/failures/$target/" "${corpora[@]}" || found=1
done
exit $found
