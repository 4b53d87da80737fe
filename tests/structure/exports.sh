#!/bin/sh
# tests/structure/exports.sh LIBRARY LIST... - the library exports exactly the names in the lists (one per line, # comments).
set -eu
library=$1
shift
expected=$(mktemp)
found=$(mktemp)
trap 'rm -f "$expected" "$found"' EXIT
sed 's/#.*//; s/[[:space:]]//g; /^$/d' "$@" | LC_ALL=C sort -u > "$expected"
# Not the hidden ones: the linker lists the ends of a section there.
readelf --dyn-syms -W "$library" | awk '$1 ~ /^[0-9]+:$/ && $5 != "LOCAL" && $6 != "HIDDEN" && $7 != "UND" && $7 != "ABS" {
  sub(/@.*/, "", $8); print $8 }' | LC_ALL=C sort -u > "$found"
[ -s "$found" ] || { echo "$library exports nothing" && exit 1; }
diff -u --label "listed in $*" --label "exported by $library" "$expected" "$found"
