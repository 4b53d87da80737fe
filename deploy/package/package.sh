#!/bin/sh
# deploy/package/package.sh - the Debian packages mired, mire-run, libmire and libmire-dev of a built tree, in build/packages.
#
#     make package        of this machine's release of Debian and its architecture; needs no rights
set -eu
cd "$(dirname "$0")/../.."
build=${MIRE_BINARY_DIR:-$PWD/build/release}
out=$PWD/build/packages
version=$(sed -n 's/^project(.*VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
arch=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || stat -c %Y CMakeLists.txt)}
export SOURCE_DATE_EPOCH

rm -rf "$out"
mkdir -p "$out/debian"
all=$out/all
cmake --install "$build" --prefix "$all/usr" > /dev/null
rm -f "$build/install_manifest.txt"
printf 'Source: mire\n\nPackage: mire\nArchitecture: any\n' > "$out/debian/control" # dpkg-shlibdeps asks for one

# put PACKAGE PATH...: moves installed paths into a package.
put() {
  package=$1
  shift
  for path; do
    mkdir -p "$out/$package/$(dirname "$path")"
    mv "$all/$path" "$out/$package/$path"
  done
}

# depends FILE...: packages of the shared libraries that the programs link.
depends() {
  (cd "$out" && dpkg-shlibdeps -O --ignore-missing-info -l"$out/libmire/usr/lib" "$@" 2> /dev/null) | sed 's/^shlibs:Depends=//'
}

# control PACKAGE SECTION DEPENDS "MORE FIELDS" SUMMARY < description
control() {
  mkdir -p "$out/$1/DEBIAN" "$out/$1/usr/share/doc/$1"
  cp NOTICE "$out/$1/usr/share/doc/$1/NOTICE"
  cp LICENSE "$out/$1/usr/share/doc/$1/copyright"
  {
    printf 'Package: %s\nVersion: %s\nArchitecture: %s\nSection: %s\nPriority: optional\n' "$1" "$version" "$arch" "$2"
    printf 'Maintainer: Mire <mire@localhost>\nInstalled-Size: %s\nDepends: %s\n' "$(du -sk "$out/$1" | cut -f1)" "$3"
    [ -z "$4" ] || printf '%s\n' "$4"
    printf 'Description: %s\n' "$5"
    sed 's/^$/./; s/^/ /'
  } > "$out/$1/DEBIAN/control"
}

put mired usr/bin/mired usr/bin/mire $([ ! -d "$all/usr/share/mire/web" ] || echo usr/share/mire/web)
put mire-run usr/share/man/man1/mire-run.1
put mired usr/share/man usr/share/bash-completion usr/share/zsh usr/share/fish
put mire-run usr/bin/mire-run usr/lib/libmire-preload.so
put libmire usr/lib/libmire.so.0 "usr/lib/libmire.so.$version"
put libmire-dev usr/include/mire usr/lib/libmire.so usr/lib/libmire.a usr/lib/pkgconfig/mire.pc usr/lib/cmake/mire
find "$all" ! -type d > "$out/left"
[ ! -s "$out/left" ] || { echo "package: installed, and in no package:"; cat "$out/left"; exit 1; }

install -Dm644 deploy/mired.service "$out/mired/usr/lib/systemd/system/mired.service"
install -Dm644 deploy/package/mired.conf "$out/mired/etc/mire/mired.conf"
find "$out"/*/usr/share/man -type f -exec gzip -9n {} +
for one in mired/usr/bin/mired mired/usr/bin/mire mire-run/usr/bin/mire-run; do strip "$out/$one"; done
for one in mire-run/usr/lib/libmire-preload.so "libmire/usr/lib/libmire.so.$version"; do strip --strip-unneeded "$out/$one"; done
strip --strip-debug "$out/libmire-dev/usr/lib/libmire.a"

control mired net "$(depends mired/usr/bin/mired mired/usr/bin/mire), adduser" 'Recommends: postgresql, mire-run' \
  'finds what makes shipped programs hang: server and command line' << END
mired takes reports of programs that hang or run out of memory, groups them,
names the function to blame, and shows a dashboard. Without database_url in
/etc/mire/mired.conf it runs a private PostgreSQL below /var/lib/mire.
END
printf '/etc/mire/mired.conf\n' > "$out/mired/DEBIAN/conffiles"
for script in postinst prerm postrm; do install -m755 "deploy/package/mired.$script" "$out/mired/DEBIAN/$script"; done
control mire-run utils "$(depends mire-run/usr/bin/mire-run mire-run/usr/lib/libmire-preload.so)" '' \
  'watches an unchanged program for hangs and its use of memory' << END
mire-run starts a dynamically linked program, watches its main loop and its
memory, and sends a report when it hangs or runs out.
END
control libmire libs "$(depends "libmire/usr/lib/libmire.so.$version")" '' 'library with which a program reports its hangs' << END
A program that links libmire reports hangs of its main thread, its memory, and
why it ended.
END
printf 'libmire 0 libmire (>= %s)\n' "$version" > "$out/libmire/DEBIAN/shlibs"
printf 'activate-noawait ldconfig\n' > "$out/libmire/DEBIAN/triggers"
control libmire-dev libdevel "libmire (= $version), libcurl4-openssl-dev | libcurl-dev, libzstd-dev" '' \
  'library with which a program reports its hangs: headers' << END
Headers, the static library, and files for pkg-config and CMake.
END

for package in mired mire-run libmire libmire-dev; do
  find "$out/$package" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group --build "$out/$package" "$out/${package}_${version}_$arch.deb" > /dev/null
  rm -rf "${out:?}/$package"
done
rm -rf "$all" "$out/debian" "$out/left"
(cd "$out" && sha256sum ./*.deb > SHA256SUMS)
ls "$out"
