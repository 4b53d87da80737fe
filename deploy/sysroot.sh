#!/bin/sh
# deploy/sysroot.sh ARCH FOLDER - unpack the libraries and programs that the SDK and its tests need, of another processor, into FOLDER.
#
# Debian's packages, from the machine's own sources, through a package state of their own beside FOLDER: nothing is
# installed, no root needed. Does nothing if FOLDER has what this script would put there.
set -eu
arch=$1 root=$(realpath -m "$2")
state=$root.apt
packages='libc6-dev libcurl4-openssl-dev libzstd-dev libcmocka-dev libglib2.0-dev libuv1-dev libstdc++6 libjemalloc2 libgoogle-perftools4 libmimalloc2.0 lua5.4 sqlite3'
[ "$(cat "$root/complete" 2>/dev/null)" != "$packages" ] || exit 0
echo "unpacking for $arch: $packages"
rm -rf "$root" "$state"
mkdir -p "$root" "$state/lists/partial" "$state/archives/partial"
: > "$state/status"

foreign_apt() {
  apt-get -q -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o APT::Sandbox::User= -o Debug::NoLocking=1 \
    -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::Cache="$state" "$@" > "$state/log" 2>&1 ||
    { cat "$state/log" >&2 && exit 1; }
}

foreign_apt update
# shellcheck disable=SC2086
foreign_apt install -y --download-only --no-install-recommends $packages
for package in "$state"/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
rm -rf "$state"
echo "$packages" > "$root/complete"
