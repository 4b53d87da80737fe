#!/bin/sh
# deploy/zig.sh - the pinned zig, a C compiler with Apple's headers, in build/apple/zig; fetched once from PyPI. Prints its path.
# Status 77: it cannot be had, and why.
set -eu
cd "$(dirname "$0")/.."
version=0.15.2
zig=$PWD/build/apple/zig/ziglang/zig
if [ "$("$zig" version 2>/dev/null)" != "$version" ]; then
  rm -rf build/apple/zig build/apple/zig.new
  mkdir -p build/apple/zig.new
  python3 -m pip download -q --no-deps --only-binary=:all: -d build/apple/zig.new "ziglang==$version" > build/apple/zig.log 2>&1 ||
    { echo "ziglang $version cannot be fetched from PyPI (build/apple/zig.log)" && exit 77; }
  python3 -m zipfile -e build/apple/zig.new/*.whl build/apple/zig.new
  rm -f build/apple/zig.new/*.whl
  chmod +x build/apple/zig.new/ziglang/zig
  mv build/apple/zig.new build/apple/zig
fi
echo "$zig"
