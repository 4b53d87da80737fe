#!/bin/sh
# tests/android/fetch.sh VERSION... - the framework's classes of these versions in build/android, fetched once. Prints their
# paths, one a line. Status 77: one cannot be had, and why.
set -eu
cd "$(dirname "$0")/../.."
part=$PWD/build/android/part.$$ # others may fetch at the same time
mkdir -p "$part"
trap 'rm -rf "$part"' EXIT
command -v mvn > /dev/null || { echo 'maven is not installed: deploy/need.sh test' && exit 77; }
for version in "$@"; do
  jar=build/android/android-all-$version.jar
  if [ ! -s "$jar" ]; then
    mvn -q -B dependency:copy -Dartifact="org.robolectric:android-all:$version" -DoutputDirectory="$part" \
      -Dmdep.useBaseVersion=true < /dev/null > "$part/log" 2>&1 ||
      { echo "org.robolectric:android-all:$version cannot be fetched: $(tail -c 300 "$part/log")" && exit 77; }
    mv "$part/android-all-$version.jar" "$jar"
  fi
  echo "$PWD/$jar"
done
