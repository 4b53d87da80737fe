#!/bin/sh
# sdk/android/zstd.sh - zstd's sources in build/zstd: Debian's source package, by the machine's own package sources. Once.
#
# Nothing is installed. Status 77: the sources cannot be had, and why.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD/build/zstd state=$PWD/build/zstd.apt
[ ! -e "$root/lib/zstd.h" ] || exit 0
rm -rf "$root" "$state"
mkdir -p "$root" "$state/lists/partial" "$state/archives/partial" "$state/parts"
: > "$state/status"
for file in /etc/apt/sources.list.d/*.sources; do
  [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" > "$state/parts/${file##*/}"
done
[ ! -e /etc/apt/sources.list ] || sed -n 's/^deb /deb-src /p' /etc/apt/sources.list > "$state/parts/machine.list"

source_apt() {
  apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$state/parts" -o Dir::State="$state" \
    -o Dir::State::status="$state/status" -o Dir::Cache="$state" -o APT::Sandbox::User= -o Debug::NoLocking=1 "$@" >> "$state/log" 2>&1
}
source_apt update || true # a source that others use may lack an index of sources
(cd "$state" && source_apt source --download-only libzstd) ||
  { tail -n 2 "$state/log" && echo "zstd's sources cannot be fetched (build/zstd.apt/log)" && exit 77; }
for archive in "$state"/libzstd_*.orig.tar.*z; do tar -xf "$archive" -C "$root" --strip-components 1; done
rm -rf "$state"
