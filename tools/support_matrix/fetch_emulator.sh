#!/usr/bin/env bash
# Puts an emulator that runs all measured arm64 libraries into ROOT/qemu/qemu-aarch64: that of Debian 12 crashes in the newest.
#
#   fetch_emulator.sh ROOT
set -euo pipefail
[[ $# -eq 1 ]] || { sed -n '2,4s/^# \?//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
mkdir -p "$1"
root=$(cd "$1" && pwd)

die() { echo "fetch_emulator: $*" >&2; exit 1; }

scratch=
trap 'rm -rf "$scratch"' EXIT

debian_mirror() {
  # shellcheck disable=SC2016  # apt expands it
  apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -n 1
}

[[ -e $root/qemu/qemu-aarch64 ]] && exit 0
echo "fetching qemu-user of Debian's backports by apt"
mirror=$(debian_mirror)
[[ -n $mirror ]] || die "apt knows no Debian mirror: run apt-get update"
rm -rf "$scratch"
scratch=$(mktemp -d "$root/.fetch.XXXXXX")
cd "$scratch"
mkdir -p lists/partial cache/archives/partial
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm-backports main" \
  > sources.list
# A view of the backports in this directory; the system's own package lists do not change.
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=-
           -o "Dir::State::lists=$PWD/lists" -o "Dir::Cache=$PWD/cache"
           -o "APT::Sandbox::User=$(id -un)" -o Acquire::Languages=none)
"${apt[@]}" update
"${apt[@]}" download qemu-user
dpkg -x qemu-user_*.deb .
mkdir -p "$root/qemu"
mv usr/bin/qemu-aarch64 "$root/qemu/qemu-aarch64"
