#!/bin/sh
# tests/structure/format.sh [--fix] - the C code looks as .clang-format says, version 14; --fix makes it so.
set -eu
cd "${MIRE_SOURCE_DIR:-$(dirname "$0")/../..}"
mode='--dry-run -Werror'
[ "${1:-}" != --fix ] || mode=-i
# shellcheck disable=SC2086
find sdk server tests -name '*.[ch]' -print0 | xargs -0 -r clang-format-14 --style=file $mode
