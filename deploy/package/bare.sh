#!/bin/sh
# deploy/package/bare.sh SUITE... - the packages of build/packages on bare systems: debootstrap's smallest Debian of each suite, apt, a
# server that takes a report, a program built with libmire, removal, purge. What is left then is data and apt's own.
#
#     make package-bare SUITES="bookworm trixie"     as root; fetches 100 MB a suite and what the packages depend on
set -eu
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || { echo "bare: needs root, for chroot"; exit 77; }
command -v debootstrap > /dev/null || { echo "bare: debootstrap is not installed (deploy/need.sh image)"; exit 77; }
into=${BARE:-$PWD/build/bare}
mkdir -p "$into"
root=
server=
end() {
  [ -z "$server" ] || kill "$server" 2> /dev/null || true
  [ -z "$root" ] || for part in proc dev/shm dev; do umount -q "$root/$part" || true; done
}
trap end EXIT

there() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"; }

# Every file but data, apt's and dpkg's own, logs, and what the packages' dependencies left.
files() {
  (cd "$root" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./tmp -o -path ./run -o -path ./root -o -path ./var/lib/mire \
    -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log \) -prune -o ! -type d -print |
    grep -vE '^\./etc/(passwd|shadow|group|gshadow|subuid|subgid)-?$|^\./etc/(ld.so.cache|.pwd.lock)$' | sort)
}

serve() {
  chroot --userspec=mire:mire "$root" env -i PATH=/usr/bin:/bin HOME=/var/lib/mire mired serve --listen 127.0.0.1:0 --port-file /var/lib/mire/port --data-dir /var/lib/mire \
    --log-level warn &
  server=$!
  for _ in $(seq 600); do
    [ ! -s "$root/var/lib/mire/port" ] || break
    kill -0 "$server" 2> /dev/null || { echo "bare: mired ended"; exit 1; }
    sleep 0.5
  done
  base=http://127.0.0.1:$(cat "$root/var/lib/mire/port")
  key=$(there runuser -u mire -- mire key create bare --data-dir /var/lib/mire)
  cp schema/wire/vectors/valid/smallest/report.json "$root/tmp/report.json"
  status=$(curl -s -o "$root/tmp/answer" -w '%{http_code}' -H "Authorization: Bearer $key" --data-binary "@$root/tmp/report.json" "$base/api/v1/reports")
  [ "$status" = 202 ] || { echo "bare: a report was answered $status"; cat "$root/tmp/answer"; exit 1; }
  for _ in $(seq 120); do
    ! there mire issues --server "$base" --app bare --t 3650d | grep -q 'I-1' || break
    sleep 0.5
  done
  there mire issues --server "$base" --app bare --t 3650d | grep 'I-1'
  there mire-run --server "$base" --key "$key" --app bare --store /tmp/store -- /bin/true
  kill "$server"
  wait "$server" || { echo "bare: mired ended with $?"; exit 1; }
  server=
}

build() {
  cat > "$root/root/app.c" << 'END'
#include <mire/mire.h>
int main(void) { mire_options *o = mire_options_new(); mire_options_set_app(o, "bare", "1"); mire_options_free(o); return !o; }
END
  there sh -ec 'cd /root; cc app.c -o shared $(pkg-config --cflags --libs mire); ./shared
    cc app.c -o static $(pkg-config --cflags mire) -l:libmire.a -lcurl -lzstd -ldl -pthread; ./static'
}

for suite; do
  root=$into/$suite
  [ -e "$root/bare" ] || { rm -rf "$root"; debootstrap --variant=minbase "$suite" "$root" > "$into/$suite.log" 2>&1; touch "$root/bare"; }
  mount -t proc proc "$root/proc"
  mount --bind /dev "$root/dev"
  mount -t tmpfs shm "$root/dev/shm"
  printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d"
  chmod +x "$root/usr/sbin/policy-rc.d"
  there apt-get update -q > "$into/$suite.log" 2>&1
  # The dependencies first, so that what is left behind is told of the packages alone.
  depends=$(for deb in build/packages/*.deb; do dpkg-deb -f "$deb" Depends Recommends | sed 's/^[A-Z][a-z]*: //' | tr ',' '\n'; done |
    sed 's/(.*//; s/|.*//; s/ //g' | grep -vxE 'libmire|mire-run' | sort -u)
  # shellcheck disable=SC2086 # words
  there apt-get install -qy --no-install-recommends $depends gcc libc6-dev pkg-config >> "$into/$suite.log" 2>&1
  files > "$into/before"
  cp build/packages/*.deb "$root/tmp/"
  there sh -c 'apt-get install -qy /tmp/*.deb' >> "$into/$suite.log" 2>&1 || { tail "$into/$suite.log"; exit 1; }
  there runuser -u mire -- mired check > /dev/null || { there runuser -u mire -- mired check; exit 1; }
  serve
  build
  there apt-get remove -qy mired mire-run libmire libmire-dev >> "$into/$suite.log" 2>&1
  [ -e "$root/etc/mire/mired.conf" ] || { echo "bare: removal took the settings"; exit 1; }
  there apt-get purge -qy mired >> "$into/$suite.log" 2>&1
  files > "$into/after"
  diff "$into/before" "$into/after" || { echo "bare: these files are left"; exit 1; }
  ! there getent passwd mire || { echo "bare: the user is left"; exit 1; }
  [ -d "$root/var/lib/mire/postgres" ] || { echo "bare: the data are gone"; exit 1; }
  rm -rf "$root/var/lib/mire"
  end
  echo "bare: $suite: installed, served, built with, and removed without a trace"
done
