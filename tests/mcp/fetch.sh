#!/bin/sh
# tests/mcp/fetch.sh - the pinned client of the Model Context Protocol in build/mcp, fetched once. Status 77: it cannot be had, and why.
set -eu
cd "$(dirname "$0")/../.."
here=$PWD/tests/mcp into=$PWD/build/mcp
want=$(sha256sum < "$here/package-lock.json")
[ "$(cat "$into/is" 2> /dev/null)" = "$want" ] || {
  PATH="$PWD/build/node/bin:$PATH"
  command -v npm > /dev/null || { echo 'npm is not installed: deploy/need.sh web' && exit 77; }
  rm -rf "$into"
  mkdir -p "$into"
  cp "$here/package.json" "$here/package-lock.json" "$into"
  (cd "$into" && npm ci --silent --no-audit --no-fund --no-update-notifier --ignore-scripts) > "$into/log" 2>&1 ||
    { echo '@modelcontextprotocol/sdk cannot be fetched (build/mcp/log)' && exit 77; }
  echo "$want" > "$into/is"
}
cp "$here/client.mjs" "$into"
