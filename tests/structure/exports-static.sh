#!/bin/sh
# tests/structure/exports-static.sh ARCHIVE - every global name in the archive begins with mire_: it meets no app's own.
set -eu
names=$(nm -g --defined-only "$1" | awk 'NF == 3 { print $3 }')
[ -n "$names" ] || { echo "$1 defines nothing" && exit 1; }
! echo "$names" | grep -v '^mire_'
