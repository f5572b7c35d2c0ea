#!/usr/bin/env bash
# Downloads the sources of the libraries that the packages link: Debian's sources with Debian's patches, into
# build-package/sources/NAME, from apt's configured mirror. Installs nothing. Header-only libraries come from the packages that
# ./setup build installs.
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"

libraries=(fmtlib highway re2 xxhash libjpeg-turbo libpng1.6 zlib)

[[ -e $sources/complete ]] && exit 0
echo "package: fetching the sources of ${libraries[*]} by apt"
# shellcheck disable=SC2016  # apt expands it
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -n 1)
[[ -n $mirror ]] || die "apt knows no Debian mirror to take sources from: run apt-get update"

rm -rf "$sources"
mkdir -p "$sources/apt/lists/partial" "$sources/apt/cache/archives/partial"
cd "$sources/apt"
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main" > sources.list
# A separate apt state; the system's package lists do not change.
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=-
     -o "Dir::State::lists=$PWD/lists" -o "Dir::Cache=$PWD/cache"
     -o "APT::Sandbox::User=$(id -un)" -o Acquire::Languages=none)
"${apt[@]}" update
"${apt[@]}" source --download-only "${libraries[@]}"
for library in "${libraries[@]}"; do
  # No check here, because apt has verified the files against the signed lists.
  dpkg-source -q --no-check --extract "$library"_*.dsc "$sources/$library"
  # The version for the bill of materials, without Debian's suffixes.
  dpkg-parsechangelog -l "$sources/$library/debian/changelog" -S Version > "$sources/$library/debian-version"
done
# Debian's source lacks generated files; these are made from Debian's copy of the Unicode tables.
make --silent -C "$sources/re2" REBUILD_TABLES=1 PYTHON=/usr/bin/python3 \
  re2/perl_groups.cc re2/unicode_casefold.cc re2/unicode_groups.cc
rm -rf "$sources/apt" "$sources"/*.orig.tar.*
touch "$sources/complete"
