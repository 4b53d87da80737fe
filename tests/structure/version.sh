#!/bin/sh
# Each file that names the version of Mire names that of CMakeLists.txt, and the changelog begins with it.
set -eu
cd "${MIRE_SOURCE_DIR:-$(dirname "$0")/../..}"
version=$(sed -n 's/^project(.*VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
bad=0

# names FILE PATTERN: each match of the pattern, whose group is a version, names this one; there is at least one.
names() {
  found=$(sed -nE "s/.*$2.*/\1/p" "$1")
  [ -n "$found" ] || { echo "$1: names no version (looked for $2)"; bad=1; }
  for one in $found; do
    [ "$one" = "$version" ] || { echo "$1: names version $one, CMakeLists.txt $version"; bad=1; }
  done
}

names Mire.podspec.json '"version": "([0-9.]+)"'
names Mire.podspec.json '"tag": "([0-9.]+)"'
names Mire.podspec.json 'MIRE_VERSION=[\\"]*([0-9.]+)'
names Package.swift '"MIRE_VERSION", to: "[\\"]*([0-9.]+)'
names web/src/model/snippets.ts 'mire-android:([0-9.]+)'
names deploy/vcpkg/mire/vcpkg.json '"version": "([0-9.]+)"'
names docs/android.md 'mire-android:([0-9.]+)'
first=$(sed -n 's/^## \([0-9.]*\), .*/\1/p' CHANGELOG.md | head -n 1)
case $first in
"$version") ;;
*) sed -n 's/^## [0-9.]*, \(.*\)/\1/p' CHANGELOG.md | head -n 1 | grep -qx 'not released' || # the next one, being made
  { echo "CHANGELOG.md: begins with $first, CMakeLists.txt has $version"; bad=1; } ;;
esac
exit $bad
