#!/bin/sh
# tests/support/debug-files.sh DIR - the debug files that bench-symbols and the proof read, from Debian's -dbg packages.
#
# Some 850 MB are fetched once, by apt-get download, and taken apart in DIR without being installed. Each file lies there
# twice: as Debian ships it where that is compressed (NAME.zlib), and raw (NAME).
set -eu
dir=$1
mkdir -p "$dir/apt"
cd "$dir"
[ -e complete ] && exit 0
for package in libc6-dbg libstdc++6-12-dbg libpython3.11-dbg openjdk-17-dbg ceph-osd-dbg libc6; do
  ls "apt/${package}"_* > /dev/null 2>&1 || {
    echo "fetching $package"
    (cd apt && apt-get download -qq "$package" 2> log || { apt-get update -qq && apt-get download -qq "$package"; })
  }
  dpkg-deb -x "apt/${package}"_*.deb root
done

# The debug file of a name: the one whose .symtab knows the function, the largest first.
pick() { # NAME FUNCTION
  find root/usr/lib/debug -name '*.debug' -printf '%s %p\n' | sort -rn | cut -d' ' -f2 | while read -r file; do
    if nm -C "$file" 2> /dev/null | grep -q " [Tt] $2"; then
      cp "$file" "$1.zlib"
      break
    fi
  done
  objcopy --decompress-debug-sections "$1.zlib" "$1"
}
id=$(readelf -n root/lib/x86_64-linux-gnu/libc.so.6 | sed -n 's/ *Build ID: //p')
cp "root/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug" libc.zlib
objcopy --decompress-debug-sections libc.zlib libc
cp "$(find root/usr/lib/x86_64-linux-gnu/debug -name "libstdc++.so.6.*" ! -name "*.py" -type f | head -1)" libstdc++
cp root/usr/lib/x86_64-linux-gnu/libpython3.11d.so.1.0 libpython
pick ceph-osd 'OSD::start_boot'
pick libjvm 'JVM_StartThread'
rm -rf root
touch complete
