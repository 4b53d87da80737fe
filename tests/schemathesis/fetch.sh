#!/bin/sh
# tests/schemathesis/fetch.sh - the pinned Schemathesis in build/schemathesis, fetched once. Status 77: it cannot be had, and why.
set -eu
cd "$(dirname "$0")/../.."
here=$PWD/tests/schemathesis into=$PWD/build/schemathesis
want=$(sha256sum < "$here/requirements.txt")
[ "$(cat "$into/is" 2> /dev/null)" = "$want" ] && exit 0
/usr/bin/python3 -m pip --version > /dev/null 2>&1 || { echo 'pip is not installed: deploy/need.sh test' && exit 77; }
rm -rf "$into"
mkdir -p "$into"
/usr/bin/python3 -m pip install -q --disable-pip-version-check --no-deps --require-hashes --target "$into/python" \
  -r "$here/requirements.txt" > "$into/log" 2>&1 || { echo 'Schemathesis cannot be fetched (build/schemathesis/log)' && exit 77; }
echo "$want" > "$into/is"
