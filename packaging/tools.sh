#!/usr/bin/env bash
# Installs the compiler and the checkers of packaging/requirements.txt in build-package/tools.
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"

if ! cmp -s "$project/packaging/requirements.txt" "$tools/requirements.txt"; then
  echo "package: installing zig and auditwheel by pip"
  rm -rf "$tools"
  /usr/bin/python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check -r "$project/packaging/requirements.txt"
  cp "$project/packaging/requirements.txt" "$tools/requirements.txt"
fi

wrap() {  # NAME ARGUMENTS…: writes a program NAME that calls zig with these first arguments
  local wrapper=$tools/$1
  shift
  printf '#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR=%q ZIG_LOCAL_CACHE_DIR=%q\nexec %q/bin/zig %s "$@"\n' \
    "$work/zig-cache" "$work/zig-cache" "$tools" "$*" > "$wrapper.new"
  chmod +x "$wrapper.new"
  mv "$wrapper.new" "$wrapper"
}
ln -sfn "$(echo "$tools"/lib/python3*/site-packages/ziglang/zig)" "$tools/bin/zig"
wrap ar ar
wrap ranlib ranlib
for architecture in "${!debian_name[@]}"; do
  # Without -O, as in tests of configure, zig adds checks that trap.
  wrap "$architecture-cc" cc -target "$architecture-linux-gnu.$glibc" -fno-sanitize=all
  wrap "$architecture-c++" c++ -target "$architecture-linux-gnu.$glibc" -fno-sanitize=all
done
