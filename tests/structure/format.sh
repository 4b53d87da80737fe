#!/bin/sh
# tests/structure/format.sh [--fix] [FILE...] - the C code looks as .clang-format says, version 14; --fix makes it so.
set -eu
cd "${MIRE_SOURCE_DIR:-$(dirname "$0")/../..}"
mode='--dry-run -Werror'
if [ "${1:-}" = --fix ]; then
  mode=-i
  shift
fi
if [ $# -eq 0 ]; then
  # shellcheck disable=SC2046
  set -- $(git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cc')
fi
# shellcheck disable=SC2086
clang-format-14 --style=file $mode "$@"
