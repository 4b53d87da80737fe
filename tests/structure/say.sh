#!/bin/sh
# tests/structure/say.sh - commands print by say() alone (server/src/cli/say.h): what a name could do to a terminal is
# taken out there. Texts of our own go out by puts and fputs, and nothing formats for itself.
set -eu
cd "${MIRE_SOURCE_DIR:-$(dirname "$0")/../..}"
[ -d server/src/cli ] || exit 0
if grep -HnE '(^|[^[:alnum:]_])(f|v|vf|d)?printf *\(' server/src/cli/*.c; then
  echo 'say() prints in server/src/cli'
  exit 1
fi
