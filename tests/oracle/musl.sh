#!/bin/sh
# integration/oracle-musl - under musl, programs killed at any instant, and whether what they held is told: oracle.c.
#
# The SDK is built with musl-gcc twice, as libmire and as the preload library; the oracle's program is watched by either. The
# oracle itself is the one built beside this. Skipped where there is no musl-gcc.
set -eu
cd "$MIRE_SOURCE_DIR"
command -v musl-gcc > /dev/null || { echo 'skipped: no musl-gcc' && exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
machine=$(uname -m)
headers="-idirafter /usr/include -idirafter /usr/include/$machine-linux-gnu"
common="-std=gnu11 -D_GNU_SOURCE -O2 -Isdk/include -Isdk/src -Isdk -Itests $headers"
echo "$common -fPIC -fvisibility=hidden -fno-omit-frame-pointer -Wall -DMIRE_VERSION='\"0\"'" > "$scratch/flags"
share="-shared -Wl,--eh-frame-hdr,-z,nodelete,-z,start-stop-visibility=hidden"
ln -s "/usr/lib/$machine-linux-gnu/libzstd.so.1" "$scratch/"

for source in sdk/src/*/*.c sdk/wire/*.c sdk/preload/interpose.c sdk/preload/interpose_heap.c sdk/preload/preload.c tests/support/musl.c; do
  case $source in
  */"arch_$machine"*) ;;
  */arch_* | */platform/locals_key.c | *_apple.c | *_android.c) continue ;;
  */upload/curl*.c | */upload/inherit.c) continue ;;
  esac
  echo "$source -o $scratch/$(echo "$source" | tr / _).o"
done > "$scratch/list"
xargs -P 2 -L 1 musl-gcc "@$scratch/flags" -c < "$scratch/list" 2> "$scratch/log" || { cat "$scratch/log" && exit 1; }
[ ! -s "$scratch/log" ] || { cat "$scratch/log" && exit 1; }
for hooks in malloc aligned; do
  musl-gcc "@$scratch/flags" -DMIRE_HOOKS_INTERPOSE -c "sdk/src/allochook/$hooks.c" -o "$scratch/interpose_hooks_$hooks.o"
done

objects() { # objects PATTERN-OF-THOSE-LEFT-OUT
  for object in "$scratch"/*.o; do
    echo "$object" | grep -qE "$1" || echo "$object"
  done
}
# shellcheck disable=SC2046,SC2086
musl-gcc $share -o "$scratch/libmire.so" $(objects 'sdk_preload_|variant_preload|interpose_hooks') "$scratch/libzstd.so.1"
# shellcheck disable=SC2046,SC2086
musl-gcc $share -o "$scratch/libmire-preload.so" $(objects 'variant_(library|send)|report_pack\.c|core_remote|_upload_|src_allochook_(malloc|aligned)\.c') "$scratch/libzstd.so.1"

program="$common -fomit-frame-pointer -Dpvalloc=valloc -Wl,--eh-frame-hdr tests/oracle/app.c tests/oracle/script.c tests/oracle/sites.c
  tests/oracle/sites_plain.c tests/oracle/spans.c tests/oracle/guests.c"
# shellcheck disable=SC2086
musl-gcc $program -o "$scratch/oracle_app"
# shellcheck disable=SC2086
musl-gcc -DWITH_MIRE $program -o "$scratch/oracle_app_linked" "$scratch/libmire.so"
for number in 0 1 2 3; do
  musl-gcc -O2 -fomit-frame-pointer -fPIC -shared -Wl,--eh-frame-hdr -o "$scratch/liboracle_plugin_$number.so" tests/oracle/plugin.c
done
ORACLE_BUILT="$scratch" LD_LIBRARY_PATH="$scratch" "$MIRE_BINARY_DIR/tests/oracle/oracle" "${KILLS:-60}"
