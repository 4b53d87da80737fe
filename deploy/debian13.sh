#!/bin/sh
# deploy/debian13.sh FOLDER alone|whole PACKAGE... - unpack packages of Debian 13 into FOLDER, alone or with all that they need.
# Status 77: they cannot be had, and why.
#
# Through a package state of its own beside FOLDER: nothing is installed, no root needed. The archive is MIRE_DEBIAN, or the one of
# apt's sources.
set -eu
root=$(realpath -m "$1") how=$2
shift 2
state=$root.apt
key=/usr/share/keyrings/debian-archive-keyring.gpg
[ -s "$key" ] || { echo "$key is missing: install debian-archive-keyring" && exit 77; }
archive=${MIRE_DEBIAN:-$(apt-get indextargets --format '$(REPO_URI)' | grep -m1 '/debian/$' || true)}
[ "$archive" ] || { echo "apt has no archive of Debian: set MIRE_DEBIAN" && exit 77; }
rm -rf "$root" "$state"
mkdir -p "$root" "$state/lists/partial" "$state/archives/partial"
: > "$state/status"
echo "deb [signed-by=$key] $archive trixie main" > "$state/sources.list"

own_apt() {
  apt-get -q -o APT::Sandbox::User= -o Debug::NoLocking=1 -o Acquire::Languages=none -o Acquire::Retries=2 \
    -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::Cache="$state" "$@" > "$state/log" 2>&1
}

case $how in
alone) set -- download "$@" ;;
whole) set -- install -y --download-only --no-install-recommends "$@" ;;
esac
(cd "$state/archives" && own_apt update && own_apt "$@") || { echo "Debian 13's packages cannot be fetched ($state/log)" && exit 77; }
for package in "$state"/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
rm -rf "$state"
