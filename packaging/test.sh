#!/usr/bin/env bash
# test.sh [NAME …]: installs each package in an empty system and uses it; `make test-package` runs all tests.
#
#   wheel     an empty Debian with python3-venv and no compiler: pip install, `ounce demo`, `import ounce`
#   archive   the same Debian without the Python package: extracted to any folder, with a library of ONNX Runtime
#   deb       the same Debian: dpkg -i, the manual, the completions, and the runtime of an active environment
#   consumer  a project in C that finds the archive's CMake package
#   bytes     the packaged program and that of build/ write the same models
#   aarch64   the other architecture, under qemu: the wheel's program and module quantize a model and run it
#
# Needs root, to make and enter the empty Debian.
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"
roots=$work/roots
machine=$(uname -m)
model=$project/examples/commands/commands.onnx
[[ $# -gt 0 ]] || set -- wheel archive deb consumer bytes aarch64

as_root() { if [[ $(id -u) -eq 0 ]]; then "$@"; else sudo "$@"; fi; }
package_for() { echo "$dist"/$1; }  # unquoted: a pattern

# Downloads the wheels of dependencies once; pip installs from this folder.
fetch_wheels() {  # ARCHITECTURE
  [[ -d $work/wheels/$1 ]] && return
  echo "test: fetching onnxruntime and numpy for $1 by pip"
  "$tools/bin/pip" download --quiet --disable-pip-version-check --only-binary :all: --implementation cp \
    --python-version 3.11 --abi cp311 --platform "manylinux_2_28_$1" --platform "manylinux_2_27_$1" \
    --platform "manylinux2014_$1" --platform "manylinux_2_17_$1" --dest "$work/wheels/$1.new" "onnxruntime${2:-}" numpy
  mv "$work/wheels/$1.new" "$work/wheels/$1"
}

make_root() {  # NAME: a fresh copy of an empty Debian, with the packages in /dist and the wheels in /wheels
  if [[ ! -e $roots/base/complete ]]; then
    echo "test: making an empty Debian"
    local mirror
    # shellcheck disable=SC2016  # apt expands it
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -n 1)
    as_root rm -rf "$roots/base"
    mkdir -p "$roots"
    as_root debootstrap --variant=minbase --include=python3-venv,ca-certificates bookworm "$roots/base" "$mirror" > "$roots/base.log" ||
      die "debootstrap failed: see $roots/base.log"
    as_root touch "$roots/base/complete"
  fi
  as_root rm -rf "${roots:?}/$1"
  as_root cp -a "$roots/base" "$roots/$1"
  as_root mkdir "$roots/$1/dist" "$roots/$1/wheels"
  as_root cp "$dist"/* "$roots/$1/dist/"
  as_root cp "$work/wheels/$machine"/*.whl "$roots/$1/wheels/"
  as_root cp "$model" "$roots/$1/model.onnx"
}

inside() {  # NAME: runs the script on standard input in this root, without network, and with only /dev/null of this system
  as_root unshare --mount --pid --fork --net bash -c '
    mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev" && touch "$1/dev/null" &&
    mount --bind /dev/null "$1/dev/null" && mkdir -m 1777 "$1/dev/shm" && ln -s /proc/self/fd "$1/dev/fd" &&
    exec chroot "$1" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 \
      bash -euo pipefail -s' bash "$roots/$1"
}

# The last verb of the demo is advise, and models must have been run. Do not use `!` or `&&`, with which `set -e` does not exit.
demo_is_complete='grep -q "^. ounce advise" demo.txt
    if grep -q "no model was run" demo.txt; then exit 1; fi'

test_wheel() {
  fetch_wheels "$machine"
  make_root wheel
  local begin=$SECONDS
  inside wheel << END
    if command -v gcc cc clang g++; then exit 1; fi
    cd /tmp
    python3 -m venv venv
    begin=\$(date +%s)
    venv/bin/pip install --quiet --no-index --find-links /wheels /dist/ounce_ml-*_$machine.whl
    venv/bin/ounce demo > demo.txt
    echo "test: pip install and ounce demo took \$((\$(date +%s) - begin)) s"
    $demo_is_complete
    venv/bin/python -m ounce --version
    PATH=\$PWD/venv/bin:\$PATH ounce quantize /model.onnx -o small.onnx --json > said.json; grep -q '"tried": true' said.json
    venv/bin/python -c 'import ounce; print("import ounce:", ounce.__version__)'
    test -s venv/lib/python3*/site-packages/ounce_ml-*.dist-info/licenses/LICENSE.others
    venv/bin/pip uninstall --quiet --yes ounce-ml
    if test -e venv/lib/python3*/site-packages/ounce; then exit 1; fi
END
  echo "test: wheel took $((SECONDS - begin)) s in all"
}

test_archive() {
  fetch_wheels "$machine"
  make_root archive
  inside archive << END
    cd /tmp
    tar -xzf /dist/ounce-*-linux-$machine.tar.gz
    mv ounce-* "a folder"
    "a folder/bin/ounce" demo > demo.txt
    grep -q "No ONNX Runtime was found" demo.txt
    python3 -m zipfile -e /wheels/onnxruntime-*.whl unpacked
    cp unpacked/onnxruntime/capi/libonnxruntime.so.* "a folder/lib/"
    "a folder/bin/ounce" --version
    "a folder/bin/ounce" demo > demo.txt
    $demo_is_complete
    ln -s "/tmp/a folder/bin/ounce" elsewhere
    ./elsewhere quantize /model.onnx -o small.onnx --json > said.json; grep -q '"tried": true' said.json
END
}

test_deb() {
  fetch_wheels "$machine"
  make_root deb
  inside deb << END
    dpkg -i /dist/ounce_*_${debian_name[$machine]}.deb > /dev/null
    cd /tmp
    ounce --version
    test -s /usr/share/man/man1/ounce-quantize.1.gz -a -s /usr/share/doc/ounce/copyright
    bash -n /usr/share/bash-completion/completions/ounce
    python3 -m venv venv
    venv/bin/pip install --quiet --no-index --find-links /wheels onnxruntime
    VIRTUAL_ENV=/tmp/venv ounce demo > demo.txt
    $demo_is_complete
    dpkg --purge ounce > /dev/null
    if test -e /usr/bin/ounce -o -e /usr/share/doc/ounce; then exit 1; fi
END
}

test_consumer() {
  fetch_wheels "$machine"
  local folder=$work/consumer
  rm -rf "$folder"
  mkdir "$folder"
  tar -xzf "$(package_for "ounce-*-linux-$machine.tar.gz")" -C "$folder"
  python3 -m zipfile -e "$work/wheels/$machine"/onnxruntime-*.whl "$folder/wheel"
  cmake -S "$project/tests/consumer_c" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$(echo "$folder"/ounce-*)" > "$folder/log"
  cmake --build "$folder/build" >> "$folder/log"
  (cd "$folder" && OUNCE_ONNXRUNTIME=$(echo wheel/onnxruntime/capi/libonnxruntime.so.*) build/consumer_c "$model")
}

test_bytes() {
  local folder=$work/bytes format ounce
  rm -rf "$folder"
  mkdir -p "$folder/here" "$folder/package"
  for format in w8 w4 w16 fp16 int8-dynamic 'int8 --no-search'; do
    for ounce in "here $project/build/ounce" "package $work/$machine/stage/bin/ounce"; do
      # shellcheck disable=SC2086  # words
      OUNCE_ONNXRUNTIME=$(newest_runtime) ${ounce#* } quantize "$model" --to $format --data "${model%/*}/commands_calib.npz" --rescale 1/32768 --on none \
        -o "$folder/${ounce%% *}/${format%% *}.onnx" > /dev/null
    done
  done
  diff -r "$folder/here" "$folder/package"
  echo "test: w8, w4, w16, fp16, int8-dynamic and int8 are the same bytes"
}

newest_runtime() { printf '%s\n' "$project"/.deps/onnxruntime/[0-9]*/lib/libonnxruntime.so | grep -v -- - | sort -V | tail -n 1; }

test_aarch64() {
  # Debian 12's qemu runs ONNX Runtime up to 1.27.
  fetch_wheels aarch64 ==1.22.0
  local folder=$work/aarch64/try qemu
  qemu=(qemu-aarch64 -L /usr/aarch64-linux-gnu)
  rm -rf "$folder"
  mkdir -p "$folder/site"
  for wheel in "$(package_for "ounce_ml-*_aarch64.whl")" "$work/wheels/aarch64"/onnxruntime-*.whl; do
    python3 -m zipfile -e "$wheel" "$folder/site"
  done
  chmod +x "$folder"/site/ounce/bin/*
  "${qemu[@]}" "$folder/site/ounce/bin/ounce" --version
  # The kernel may not run arm64 programs directly, so the runner is replaced with a script that calls qemu.
  local runner=$folder/site/ounce/bin/ounce-runner
  mv "$runner" "$runner.aarch64"
  printf '#!/bin/sh\nexec %s "$0.aarch64" "$@"\n' "${qemu[*]}" > "$runner"
  chmod +x "$runner"
  "${qemu[@]}" "$folder/site/ounce/bin/ounce" quantize "$model" -o "$folder/small.onnx" --json > "$folder/said.json"
  grep -q '"tried": true' "$folder/said.json"
  local native=$folder/native.onnx
  OUNCE_ONNXRUNTIME=$project/.deps/onnxruntime/1.22.0/lib/libonnxruntime.so "$work/x86_64/stage/bin/ounce" quantize "$model" -o "$native" > /dev/null
  cmp "$folder/small.onnx" "$native"
  echo "test: aarch64 writes the bytes of x86_64, and ran them"
  "$project/packaging/aarch64_python.sh"
  local root=$work/aarch64/python/root
  # Without numpy, which would take minutes to load under qemu; it is not needed for a model in a file.
  PYTHONPATH=$folder/site PYTHONDONTWRITEBYTECODE=1 qemu-aarch64 -L "$root" "$root/usr/bin/python3.11" -c '
import ounce, sys
result = ounce.quantize(sys.argv[1], to="w8", output=sys.argv[2])
print("import ounce on aarch64:", ounce.__version__, result.bytes_after, "bytes")' "$model" "$folder/python.onnx"
  cmp "$folder/python.onnx" "$native"
}

for name in "$@"; do
  declare -F "test_$name" > /dev/null || die "there is no test '$name'"
  echo "test: $name"
  "test_$name"
  echo "test: $name passed"
done
