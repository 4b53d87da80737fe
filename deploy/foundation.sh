#!/bin/sh
# deploy/foundation.sh FOLDER - unpack the real CFRunLoop for this machine into FOLDER: Swift's Foundation with the C library that
# it needs, from Debian 13. Prints nothing if FOLDER has it. Status 77: it cannot be had, and why.
#
# Through a package state of its own beside FOLDER: nothing is installed, no root needed.
set -eu
root=$(realpath -m "$1") state=$1.apt
packages='libswiftlang libc6 libstdc++6 libgcc-s1 zlib1g'
[ "$(cat "$root/complete" 2>/dev/null)" != "$packages" ] || exit 0
key=/usr/share/keyrings/debian-archive-keyring.gpg
[ -s "$key" ] || { echo "$key is missing: install debian-archive-keyring" && exit 77; }
mkdir -p "$state"
state=$(realpath "$state")
rm -rf "$root" "$state"
mkdir -p "$root" "$state/lists/partial" "$state/archives/partial"
: > "$state/status"
echo "deb [signed-by=$key] ${MIRE_DEBIAN:-http://deb.debian.org/debian} trixie main" > "$state/sources.list"

own_apt() {
  apt-get -q -o APT::Sandbox::User= -o Debug::NoLocking=1 -o Acquire::Languages=none -o Acquire::Retries=2 \
    -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::Cache="$state" "$@" > "$state/log" 2>&1
}

(cd "$state" && own_apt update && own_apt download $packages) ||
  { echo "Debian 13's Foundation cannot be fetched ($state/log)" && exit 77; }
for package in "$state"/*.deb; do dpkg-deb -x "$package" "$root"; done
rm -rf "$state"
echo "$packages" > "$root/complete"
