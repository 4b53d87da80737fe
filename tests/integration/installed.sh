#!/bin/sh
# tests/integration/installed.sh - the installed libmire, moved elsewhere, serves apps in C and C++, shared and static, found
# by pkg-config and by find_package; and apps on GLib and on libuv, by its adapters, though it depends on neither. The server
# finds the dashboard that was moved with it.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
consumer=$MIRE_SOURCE_DIR/tests/support/consumer
cmake --install "$MIRE_BINARY_DIR" --prefix "$dir/first" > "$dir/log" || { cat "$dir/log"; exit 1; }
mv "$dir/first" "$dir/moved"

fail() {
  echo "$1" >&2
  exit 1
}

headers=$(cd "$dir/moved/include" && find . -type f | LC_ALL=C sort | tr '\n' ' ')
[ "$headers" = './mire/context.h ./mire/delivery.h ./mire/exit.h ./mire/glib.h ./mire/memory.h ./mire/mire.h ./mire/ping.h ./mire/store.h ./mire/uv.h ' ] || fail "headers installed: $headers"
mkdir -p "$dir/moved/share/mire/web" # where no dashboard is built
"$dir/moved/bin/mired" check 2>&1 | grep -q "^web_dir *= *$(realpath "$dir/moved")/share/mire/web " || fail 'mired looks elsewhere for the dashboard'

pc=$(find "$dir/moved" -name mire.pc)
libdir=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH="${pc%/*}" LD_LIBRARY_PATH="$libdir"
version=$(pkg-config --modversion mire)
objdump -p "$libdir/libmire.so" | grep -E 'NEEDED.*(glib|libuv)' && fail 'libmire depends on a loop'
objdump -p "$libdir/libmire.so" | grep -q "SONAME *libmire.so.${version%%.*}\$" || fail 'another soname than the major version'

tried=0
try() { # try PROGRAM shared|static
  [ "$("$1" "$dir/store")" = "$version MIRE_OK" ] || fail "$1 does not start"
  linked=static
  readelf -d "$1" | grep -q 'NEEDED.*libmire' && linked=shared
  [ "$linked" = "$2" ] || fail "$1 is $linked"
  tried=$((tried + 1))
}

for compiler in 'cc -std=c99' 'c++ -std=c++11 -x c++'; do
  # shellcheck disable=SC2046,SC2086
  $compiler -Wall -Wextra -Werror "$consumer/app.c" -x none -o "$dir/app" $(pkg-config --cflags --libs mire)
  try "$dir/app" shared
  # shellcheck disable=SC2046,SC2086
  $compiler -Wall -Wextra -Werror "$consumer/app.c" -x none -o "$dir/app" \
    $(pkg-config --static --cflags --libs mire | sed 's/-lmire\b/-l:libmire.a/')
  try "$dir/app" static
  for loop in glib uv; do
    package=lib$loop
    [ $loop = uv ] || package=glib-2.0
    # shellcheck disable=SC2046,SC2086
    $compiler -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror "$consumer/app_$loop.c" -x none -o "$dir/app" \
      $(pkg-config --cflags --libs mire $package)
    try "$dir/app" shared
  done
done

cmake -S "$consumer" -B "$dir/build" -DCMAKE_PREFIX_PATH="$dir/moved" > "$dir/log" 2>&1 &&
  cmake --build "$dir/build" > "$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
for program in shared_app_c shared_app_cc static_app_c static_app_cc shared_app_glib_c shared_app_glib_cc shared_app_uv_c shared_app_uv_cc; do
  try "$dir/build/$program" "${program%%_*}"
done
echo "$tried apps start"
