#!/usr/bin/env bash
# package.sh [ARCHITECTURE …]: makes all packages for both or these architectures in build-package/dist; `make package`.
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"
[[ $# -gt 0 ]] || set -- x86_64 aarch64
cd "$project/packaging"

check_wheel() {  # WHEEL: checks with auditwheel that the wheel runs on this glibc or an older one
  local said minor
  said=$("$tools/bin/auditwheel" show "$1" 2>&1 | tr '\n' ' ')
  minor=$(sed -n 's/.*following platform tag: *"manylinux_2_\([0-9]*\)_.*/\1/p' <<< "$said")
  [[ -n $minor && $minor -le ${glibc#2.} ]] || die "auditwheel: $said"
  echo "package: auditwheel calls it manylinux_2_$minor"
}

for architecture in "$@"; do
  known_architecture "$architecture"
  ./portable.sh "$architecture"
  python3 materials.py "$architecture" "$work/$architecture/materials"
  python3 wheel.py "$architecture"
  check_wheel "$dist"/ounce_ml-*-py3-none-manylinux_*_"$architecture".whl
  python3 archive.py "$architecture"
  python3 deb.py "$architecture"
done

# The URL of the release; by default the formula uses the local archives.
url=${OUNCE_RELEASE_URL:-file://$dist}
version=$(python3 -c 'from facts import VERSION; print(VERSION)')
digest() { sha256sum "$dist/ounce-$version-linux-$1.tar.gz" 2> /dev/null | cut -d ' ' -f 1; }
sed "s|@URL@|$url|; s|@VERSION@|$version|g; s|@SHA256_x86_64@|$(digest x86_64)|; s|@SHA256_aarch64@|$(digest aarch64)|" \
  homebrew/ounce.rb.in > "$dist/ounce.rb"
cp conda/recipe.yaml "$dist/"
(cd "$dist" && sha256sum -- *.whl *.tar.gz *.deb > SHA256SUMS)
