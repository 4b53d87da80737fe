#!/bin/sh
# tests/structure/exports.sh LIBRARY LIST... - the library exports exactly the names in the lists (one per line, # comments).
set -eu
library=$1
shift
expected=$(mktemp)
found=$(mktemp)
trap 'rm -f "$expected" "$found"' EXIT
sed 's/#.*//; s/[[:space:]]//g; /^$/d' "$@" | LC_ALL=C sort -u > "$expected"
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u > "$found"
[ -s "$found" ] || { echo "$library exports nothing" && exit 1; }
diff -u --label "listed in $*" --label "exported by $library" "$expected" "$found"
