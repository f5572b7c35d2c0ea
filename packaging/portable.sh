#!/usr/bin/env bash
# portable.sh ARCHITECTURE: builds the programs and libounce.so for any Linux with this glibc or a newer one, with all other
# libraries linked statically, and installs them in build-package/ARCHITECTURE/stage. Build x86_64 first, because its program
# writes the manual of both.
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"
known_architecture "${1:-}"
architecture=$1
prefix=$work/$architecture/prefix
build=$work/$architecture/build
stage=$work/$architecture/stage

"$project/packaging/tools.sh"
"$project/packaging/sources.sh"
"$project/packaging/dependencies.sh" "$architecture"

commit=$(git -C "$project" describe --always --dirty --abbrev=12 2> /dev/null || true)
# Packages contain the runner for arm64 boards; on arm64 this is the normal runner.
targets=(ounce_cli ounce_runner ounce_shared ounce_app_shared)
settings=()
if [[ $architecture == x86_64 ]]; then
  targets+=(ounce_runner_arm64)
  settings+=(-DOUNCE_ARM64_COMPILER="$tools/aarch64-c++")
else
  settings+=(-DOUNCE_MANUAL_PROGRAM="$work/x86_64/build/ounce")
fi
cmake -S "$project" -B "$build" -G Ninja --toolchain "$project/packaging/zig.cmake" \
  -DOUNCE_ARCH="$architecture" -DOUNCE_TOOLS="$tools" -DOUNCE_PREFIX="$prefix" \
  -DOUNCE_TESTS=OFF -DOUNCE_RELOCATABLE=ON -DOUNCE_COMMIT="$commit" "${settings[@]}" \
  -DCMAKE_CXX_COMPILER_LAUNCHER= \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR:STRING=lib \
  -DCMAKE_CXX_FLAGS_RELEASE='-O2 -DNDEBUG' \
  -DCMAKE_EXE_LINKER_FLAGS_RELEASE='-s -Wl,--gc-sections' -DCMAKE_SHARED_LINKER_FLAGS_RELEASE='-s -Wl,--gc-sections' \
  > "$build.log" || { tail -n 30 "$build.log" >&2; die "cannot configure for $architecture"; }
cmake --build "$build" -j "$(nproc)" --target "${targets[@]}"
rm -rf "$stage"
cmake --install "$build" --prefix "$stage" > /dev/null
