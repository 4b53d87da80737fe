#!/bin/sh
# tests/sentry/fetch.sh - the pinned Sentry SDKs in build/sentry, fetched once. Status 77: they cannot be had, and why.
set -eu
cd "$(dirname "$0")/../.."
here=$PWD/tests/sentry into=$PWD/build/sentry
want=$(cat "$here/requirements.txt" "$here/package-lock.json" | sha256sum)
[ "$(cat "$into/is" 2> /dev/null)" = "$want" ] && exit 0
PATH="$PWD/build/node/bin:$PATH"
command -v npm > /dev/null || { echo 'npm is not installed: deploy/need.sh web' && exit 77; }
/usr/bin/python3 -m pip --version > /dev/null 2>&1 || { echo 'pip is not installed: deploy/need.sh test' && exit 77; }
rm -rf "$into"
mkdir -p "$into/node"
/usr/bin/python3 -m pip install -q --disable-pip-version-check --no-deps --require-hashes --target "$into/python" \
  -r "$here/requirements.txt" > "$into/log" 2>&1 || { echo 'sentry-sdk cannot be fetched (build/sentry/log)' && exit 77; }
cp "$here/package.json" "$here/package-lock.json" "$into/node"
(cd "$into/node" && npm ci --silent --no-audit --no-fund --no-update-notifier --ignore-scripts) >> "$into/log" 2>&1 ||
  { echo '@sentry/node cannot be fetched (build/sentry/log)' && exit 77; }
echo "$want" > "$into/is"
