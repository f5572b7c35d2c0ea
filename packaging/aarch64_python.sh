#!/usr/bin/env bash
# Extracts Debian's Python for aarch64 and its libraries into build-package/aarch64/python, to run it in qemu. Installs and
# executes nothing.
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"
place=$work/aarch64/python
[[ -e $place/complete ]] && exit 0
rm -rf "$place"
mkdir -p "$place/apt/lists/partial" "$place/apt/cache/archives/partial" "$place/root"
cd "$place/apt"
# shellcheck disable=SC2016  # apt expands it
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -n 1)
echo "deb [arch=arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main" > sources.list
: > status
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=-
     -o "Dir::State::lists=$PWD/lists" -o "Dir::State::status=$PWD/status" -o "Dir::Cache=$PWD/cache"
     -o APT::Architecture=arm64 -o APT::Architectures=arm64
     -o "APT::Sandbox::User=$(id -un)" -o Acquire::Languages=none)
"${apt[@]}" update
"${apt[@]}" download python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 libgcc-s1 libstdc++6 zlib1g \
  libexpat1 libffi8 libbz2-1.0 liblzma5 libssl3 libuuid1 libcrypt1
for package in *.deb; do dpkg -x "$package" "$place/root"; done
rm -rf "$place/apt"
touch "$place/complete"
