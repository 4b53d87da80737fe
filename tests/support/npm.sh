#!/bin/sh
# tests/support/npm.sh NAME - the packages that tests/NAME/package-lock.json pins in build/NAME, fetched once, and the
# programs of tests/NAME beside them. Status 77: the packages cannot be had, and why.
set -eu
cd "$(dirname "$0")/../.."
name=$1
here=$PWD/tests/$name into=$PWD/build/$name
want=$(sha256sum < "$here/package-lock.json")
[ "$(cat "$into/is" 2> /dev/null)" = "$want" ] || {
  PATH="$PWD/build/node/bin:$PATH"
  command -v npm > /dev/null || { echo 'npm is not installed: deploy/need.sh web' && exit 77; }
  rm -rf "$into"
  mkdir -p "$into"
  cp "$here/package.json" "$here/package-lock.json" "$into"
  (cd "$into" && npm ci --silent --no-audit --no-fund --no-update-notifier --ignore-scripts) > "$into/log" 2>&1 ||
    { echo "the packages of tests/$name cannot be fetched (build/$name/log)" && exit 77; }
  echo "$want" > "$into/is"
}
cp "$here"/*.mjs "$into"
