#!/bin/sh
# tests/structure/signal.sh - what may run in a signal handler calls nothing but itself and signal-allowed.txt.
#
# A C file is on the safe side when the comment it begins with says so ("... Signal-safe."). Its object, taken from the plain build in
# $MIRE_BINARY_DIR, may leave undefined only what another safe object defines or signal-allowed.txt names.
set -eu
cd "${MIRE_SOURCE_DIR:-$(dirname "$0")/../..}"
defined=$(mktemp)
trap 'rm -f "$defined"' EXIT
sed 's/#.*//; s/[[:space:]]//g; /^$/d' tests/structure/signal-allowed.txt > "$defined"

sources=$(find sdk -name '*.c' -exec awk '/Signal-safe/ { print FILENAME; nextfile } /\*\/|^$/ { nextfile }' {} + | sort -u)
[ -n "$sources" ] || { echo 'no file says that it is signal-safe' && exit 1; }

faults=0
objects=
for source in $sources; do
  object=$(find "$MIRE_BINARY_DIR/sdk" -path "*.dir/${source#sdk/}.o" | head -n 1)
  if [ -z "$object" ]; then
    case $source in
    */arch_* | */code_* | *_android.c | *_apple.c) ;; # of another processor, or another system
    *) echo "$source: not built under $MIRE_BINARY_DIR" && faults=1 ;;
    esac
  fi
  objects="$objects $object"
done
# shellcheck disable=SC2086
nm --defined-only $objects | awk 'NF == 3 && $2 ~ /^[A-Z]$/ { print $3 }' >> "$defined"
for object in $objects; do
  nm -u "$object" | awk '{ print $2 }' | grep -vxFf "$defined" | while read -r name; do
    echo "${object##*.dir/}: calls $name, which is not signal-safe (tests/structure/signal-allowed.txt)"
  done
done | { ! grep .; } || faults=1
[ "$faults" = 0 ]
