#!/bin/sh
# tests/sentry/fetch.sh - the pinned Sentry SDK in build/sentry, fetched once. Status 77: it cannot be had, and why.
set -eu
cd "$(dirname "$0")/../.."
here=$PWD/tests/sentry into=$PWD/build/sentry
want=$(cat "$here/requirements.txt" | sha256sum)
[ "$(cat "$into/is" 2> /dev/null)" = "$want" ] && exit 0
/usr/bin/python3 -m pip --version > /dev/null 2>&1 || { echo 'pip is not installed: deploy/need.sh test' && exit 77; }
rm -rf "$into"
mkdir -p "$into"
/usr/bin/python3 -m pip install -q --disable-pip-version-check --no-deps --require-hashes --target "$into/python" \
  -r "$here/requirements.txt" > "$into/log" 2>&1 || { echo 'sentry-sdk cannot be fetched (build/sentry/log)' && exit 77; }
echo "$want" > "$into/is"
