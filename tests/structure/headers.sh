#!/bin/sh
# tests/structure/headers.sh - every header compiles alone and may be included twice.
#
# Public headers as C99, C11 and C++, with every warning an error; module headers as the C11 they are used in.
set -eu
cd "${MIRE_SOURCE_DIR:-$(dirname "$0")/../..}"
strict='-Wall -Wextra -Wpedantic -pedantic-errors -Wshadow -Werror -fsyntax-only'
libraries=$(pkg-config --cflags libpq libsodium libcurl libzstd glib-2.0)
faults=0

# alone COMPILER-AND-FLAGS HEADER
alone() {
  # shellcheck disable=SC2086
  printf '#include "%s"\n#include "%s"\n' "$2" "$2" | $1 - || {
    echo "$2 does not compile alone: $1"
    faults=$((faults + 1))
  }
}

for header in sdk/include/mire/*.h; do
  [ -e "$header" ] || continue
  name=${header#sdk/include/}
  include=-Isdk/include
  case $name in # adapters: with the headers of what they adapt to, which want POSIX
  */glib.h) include="$include $(pkg-config --cflags glib-2.0 | sed 's/-I/-isystem /g') -D_POSIX_C_SOURCE=200809L" ;;
  */uv.h) include="$include $(pkg-config --cflags libuv | sed 's/-I/-isystem /g') -D_POSIX_C_SOURCE=200809L" ;;
  esac
  alone "gcc -std=c99 $strict -Wstrict-prototypes $include -x c" "$name"
  alone "gcc -std=c11 $strict -Wstrict-prototypes $include -x c" "$name"
  alone "g++ -std=c++11 $strict $include -x c++" "$name"
done
for header in $(find sdk/wire sdk/src sdk/preload -name '*.h' 2>/dev/null); do
  name=${header#sdk/}
  alone "gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -Isdk/include -Isdk/src -Isdk -x c" "${name#src/}"
done
server='-Iserver/src -Iserver/symbolizer -Iserver -Isdk'
for header in $(find server/src -name '*.h'); do
  alone "gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only $libraries $server -x c" "${header#server/src/}"
done
for header in $(find server/symbolizer -name '*.h' 2>/dev/null); do
  alone "gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only $server -x c" "${header#server/}"
done
[ "$faults" = 0 ]
