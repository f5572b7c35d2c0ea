#!/usr/bin/env bash
# Fetches what the packages link in: Debian's sources of each library, with Debian's patches, into
# build-package/sources/NAME, from the mirror that apt already uses. Nothing is installed. What is header-only comes
# from the packages that ./setup build installs.
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
# A view of its own; the system's own package lists stay as they are.
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=-
     -o "Dir::State::lists=$PWD/lists" -o "Dir::Cache=$PWD/cache"
     -o "APT::Sandbox::User=$(id -un)" -o Acquire::Languages=none)
"${apt[@]}" update
"${apt[@]}" source --download-only "${libraries[@]}"
for library in "${libraries[@]}"; do
  # Not checked here: apt has, against the signed lists.
  dpkg-source -q --no-check --extract "$library"_*.dsc "$sources/$library"
  # The version that the bill of materials names, without Debian's own suffixes.
  dpkg-parsechangelog -l "$sources/$library/debian/changelog" -S Version > "$sources/$library/debian-version"
done
# Debian takes generated files out, and makes these from its own copy of Unicode's tables.
make --silent -C "$sources/re2" REBUILD_TABLES=1 PYTHON=/usr/bin/python3 \
  re2/perl_groups.cc re2/unicode_casefold.cc re2/unicode_groups.cc
rm -rf "$sources/apt" "$sources"/*.orig.tar.*
touch "$sources/complete"
