#!/bin/sh
# integration/heap-musl - under musl a dynamically linked program's blocks are noted with their stacks.
#
# heap/ and allochook/ are built with musl-gcc and preloaded into tests/programs/own/heap_small.c; what it left when it was
# killed is read back. Skipped where there is no musl-gcc.
set -eu
cd "$MIRE_SOURCE_DIR"
command -v musl-gcc > /dev/null || { echo 'no musl-gcc' && exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
headers="-idirafter /usr/include -idirafter /usr/include/$(uname -m)-linux-gnu"
common="-std=gnu11 -D_GNU_SOURCE -O2 -fPIC -fvisibility=hidden -DMIRE_VERSION=\"0\" -DMIRE_HOOKS_INTERPOSE -Isdk/include -Isdk/src -Isdk"

sources=
for source in sdk/src/heap/*.c sdk/src/heapread/*.c sdk/src/allochook/*.c sdk/src/unwind/*.c sdk/src/patch/*.c sdk/src/platform/*.c sdk/preload/interpose_heap.c tests/support/heap_begin.c; do
  case $source in
  */"arch_$(uname -m)"*) ;;
  */arch_* | */locals_key.c | *_apple.c | *_android.c) continue ;;
  esac
  sources="$sources $source"
done
# shellcheck disable=SC2086
musl-gcc $common $headers -fno-omit-frame-pointer -shared -Wl,-z,nodelete -o "$scratch/libheap.so" $sources
musl-gcc -O2 -Wl,--eh-frame-hdr,-export-dynamic -o "$scratch/small" tests/programs/own/heap_small.c

status=0
MIRE_TABLES="$scratch/tables" LD_PRELOAD="$scratch/libheap.so" "$scratch/small" || status=$?
[ "$status" = 137 ] || { echo "ended with $status" && exit 1; }
"$MIRE_BINARY_DIR/tests/integration/heap_stacks" "$scratch/tables" 1000003 1000099 | sort > "$scratch/stacks"
cat "$scratch/stacks"
found=$(awk '{ print $1 }' "$scratch/stacks" | tr '\n' ' ')
[ "$found" = '1000003 1000004 1000005 1000010 1000011 1000013 1000014 1000020 1000064 ' ] || { echo "found $found" && exit 1; }
# inner, outer, main, and the library's start; on the thread inner, outer, run and its start.
awk '$1 < 1000010 && NF < 5 || $1 == 1000010 && NF < 5 || $1 == 1000020 && NF < 5 { print "short:", $0; bad = 1 } END { exit bad }' "$scratch/stacks"
