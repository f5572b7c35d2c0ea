#!/usr/bin/env bash
# package.sh [ARCHITECTURE …]: every package, for both architectures or for these, in build-package/dist; `make package`.
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"
[[ $# -gt 0 ]] || set -- x86_64 aarch64
cd "$project/packaging"
for architecture in "$@"; do
  known_architecture "$architecture"
  ./portable.sh "$architecture"
  python3 materials.py "$architecture" "$work/$architecture/materials"
  python3 wheel.py "$architecture"
  "$tools/bin/auditwheel" show "$dist"/ounce-*-py3-none-manylinux_*_"$architecture".whl > "$work/$architecture/auditwheel.txt"
  grep -q "\"manylinux_${glibc/./_}_$architecture\"" "$work/$architecture/auditwheel.txt" ||
    { cat "$work/$architecture/auditwheel.txt" >&2; die "the wheel needs a newer system than glibc $glibc"; }
  python3 archive.py "$architecture"
  python3 deb.py "$architecture"
done

# Where a release can be fetched from; by itself the formula takes the archives that lie here.
url=${OUNCE_RELEASE_URL:-file://$dist}
version=$(python3 -c 'from facts import VERSION; print(VERSION)')
digest() { sha256sum "$dist/ounce-$version-linux-$1.tar.gz" 2> /dev/null | cut -d ' ' -f 1; }
sed "s|@URL@|$url|; s|@VERSION@|$version|g; s|@SHA256_x86_64@|$(digest x86_64)|; s|@SHA256_aarch64@|$(digest aarch64)|" \
  homebrew/ounce.rb.in > "$dist/ounce.rb"
cp conda/recipe.yaml "$dist/"
(cd "$dist" && sha256sum -- *.whl *.tar.gz *.deb > SHA256SUMS)
