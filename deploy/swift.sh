#!/bin/sh
# deploy/swift.sh - the Swift package, built for macOS and iOS by a real SwiftPM (make apple-swift), and a Swift program
# compiled against its module.
#
# SwiftPM comes from Debian 13, with all that it needs (deploy/debian13.sh): 540 MB once, into build/apple/swift, where it runs
# in a root and a mount namespace of its own. Apple's headers are zig's, CoreFoundation's those of tests/apple/stub.
# Status 77: something cannot be had, and what.
set -eu
cd "$(dirname "$0")/.."
zig=$(deploy/zig.sh) || { echo "$zig" && exit 77; }
root=$PWD/build/apple/swift
packages='swiftlang libc6-dev libstdc++-14-dev'
tool=$(command -v llvm-libtool-darwin-14 || command -v llvm-libtool-darwin) || { echo 'llvm-libtool-darwin is not installed: deploy/need.sh test' && exit 77; }

fetch() {
  # shellcheck disable=SC2086
  deploy/debian13.sh "$root" whole $packages || exit
  for folder in bin lib lib64; do [ -e "$root/$folder" ] || ln -s "usr/$folder" "$root/$folder"; done
  mkdir -p "$root/proc" "$root/dev" "$root/tmp" "$root/sdk/usr"
  cp -L "$tool" "$root/usr/libexec/swift/bin/libtool"
  ldd "$tool" | awk '$3 ~ /^\// { print $3 }' | while read -r library; do
    [ -e "$root/usr/lib/$(uname -m)-linux-gnu/${library##*/}" ] || cp -L "$library" "$root/usr/lib/$(uname -m)-linux-gnu/"
  done
  cp -a "${zig%/*}/lib/libc/include/any-macos-any" "$root/sdk/usr/include"
  echo "$packages" > "$root/complete"
}

inside() {
  # shellcheck disable=SC2016
  unshare --mount --map-root-user sh -eu -c 'mount --rbind /proc "$1/proc"; mount --rbind /dev "$1/dev"; root=$1; shift
    HOME=/tmp PATH=/usr/sbin:/sbin:/usr/libexec/swift/bin:/usr/bin exec chroot "$root" "$@"' inside "$root" "$@"
}

[ "$(cat "$root/complete" 2>/dev/null)" = "$packages" ] || fetch
rm -rf "$root/mire" "$root/stub"
mkdir -p "$root/mire"
cp -a Package.swift sdk "$root/mire"
cp -a tests/apple/stub "$root/stub"
for target in x86_64-apple-macosx11.0 arm64-apple-ios14.0; do
  echo "{\"version\":1,\"sdk\":\"/sdk\",\"toolchain-bin-dir\":\"/usr/libexec/swift/bin\",\"target\":\"$target\",
         \"extra-cc-flags\":[\"-isystem\",\"/stub\",\"-isystem\",\"/sdk/usr/include\",\"-fno-modules\",\"-Wno-unused-command-line-argument\"],
         \"extra-swiftc-flags\":[],\"extra-cpp-flags\":[]}" > "$root/mire/target.json"
  inside swift-build --package-path /mire --destination /mire/target.json > "$root/log" 2>&1 ||
    { grep -n -A4 'error' "$root/log" || tail -20 "$root/log"; echo "$target: SwiftPM does not build the package ($root/log)" && exit 1; }
  echo "$target: $(tail -1 "$root/log")"
done
echo 'import Mire
let options = mire_options_new()
mire_options_set_app(options, "shop", "8.0.38")
precondition(mire_start(options) == MIRE_OK)
mire_options_free(options)
mire_breadcrumb("begun")' > "$root/mire/app.swift"
inside swiftc -typecheck -I /mire/sdk/include /mire/app.swift
echo 'app.swift: the module has its calls'
