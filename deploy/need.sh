#!/bin/sh
# deploy/need.sh GROUP... - install what Debian 12 lacks for these groups, and say so. Quiet when nothing is missing.
#
# Groups: build test symbols memory programs web demo fuzz tidy aarch64 android image.
# Packages come from apt, as root or by sudo. The web group needs a newer Node than Debian 12 has; when the one on PATH
# does not do, a pinned one comes from the npm registry into build/node, inside this checkout only.
set -eu
cd "$(dirname "$0")/.."

packages_of() {
  case $1 in
  build) echo make gcc g++ libc6-dev cmake ninja-build pkg-config libcurl4-openssl-dev libzstd-dev libbrotli-dev \
    libpq-dev libjansson-dev libcjose-dev libsodium-dev libssl-dev libdeflate-dev libiberty-dev liblzma-dev libbz2-dev zlib1g-dev libglib2.0-dev libuv1-dev libcmocka-dev ;;
  test) echo binutils lld mold clang-format-14 python3 python3-yaml python3-jsonschema python3-aiosmtpd openssl postgresql-15 redis-server curl procps util-linux zstd chromium nginx-light caddy gdb sqlite3 musl-tools linux-libc-dev dwz libuv1-dev \
    clang llvm llvm-14 lld-14 python3-pip bzip2 xz-utils libevent-dev libev-dev qtbase5-dev lua5.4 lua-luv linux-perf vim mosquitto libjemalloc2 libgoogle-perftools4 libmimalloc2.0 rpm db5.3-util openjdk-17-jdk-headless maven android-libutils-dev ;;
  symbols) echo llvm-16 binutils ;; # what bench-symbols and symbols-proof compare with
  memory) echo libheaptrack libgoogle-perftools4 libjemalloc2 libxml2-utils jq lua5.4 ;; # what bench-memory runs, and its neighbours
  programs) echo libc6-dbg linux-perf xvfb xdotool vim mc nano w3m gnuplot-nox mousepad emacs-nox weechat-curses mutt less sqlite3 nginx-light mosquitto dnsmasq-base haproxy php-cli ruby \
    libanyevent-perl guile-3.0 nodejs geany featherpad bc gdb lua5.4 ;; # what make programs runs
  android) echo clang-16 lld-16 llvm-16 linux-libc-dev-arm64-cross openjdk-17-jdk-headless maven python3-pip ;;
  web) echo ca-certificates ;;
  image) echo mmdebstrap debootstrap umoci dpkg-dev python3-venv ;;
  demo) echo postgresql-15 redis-server curl procps util-linux ;;
  fuzz) echo clang-14 clang libclang-rt-14-dev llvm-14 ;;
  tidy) echo clang-tidy-14 ;;
  aarch64) echo gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static python3 ;;
  *) echo "deploy/need.sh: no such group: $1" >&2 && return 1 ;;
  esac
}

is_installed() { dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Installing a server must neither start it nor make a cluster: Mire and its tests run their own. What was there stays.
install_quietly() {
  as_root env DEBIAN_FRONTEND=noninteractive sh -s -- "$@" <<'ROOT'
    set -eu
    policy=/usr/sbin/policy-rc.d cluster=/etc/postgresql-common/createcluster.d/mire-no-cluster.conf log=$(mktemp)
    made_policy= made_cluster=
    cleanup() {
      [ -z "$made_policy" ] || rm -f "$policy"
      [ -z "$made_cluster" ] || rm -f "$cluster"
      rm -f "$log"
    }
    trap cleanup EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    if [ ! -e "$policy" ]; then
      made_policy=1
      printf '#!/bin/sh\nexit 101\n' > "$policy"
      chmod 755 "$policy"
    fi
    if ! dpkg-query -W -f '${db:Status-Status}' postgresql-15 2>/dev/null | grep -qx installed; then
      made_cluster=1
      mkdir -p "${cluster%/*}"
      echo 'create_main_cluster = false' > "$cluster"
    fi
    apt_install() { apt-get install -y -q --no-install-recommends "$@" < /dev/null > "$log" 2>&1; }
    if ! apt-get install -s -q --no-install-recommends "$@" > /dev/null 2>&1; then apt-get update -q > "$log" 2>&1 || { cat "$log" >&2; exit 1; }; fi
    apt_install "$@" || { apt-get update -q > "$log" 2>&1; apt_install "$@"; } || { cat "$log" >&2; exit 1; }
    if [ -d /run/systemd/system ]; then
      for package in "$@"; do
        [ "$package" != redis-server ] || systemctl disable -q redis-server || true
      done
    fi
ROOT
}

missing=
for group in "$@"; do
  for package in $(packages_of "$group"); do
    case " $missing " in *" $package "*) continue ;; esac
    is_installed "$package" || missing="$missing $package"
  done
done
if [ -n "$missing" ]; then
  echo "installing:$missing"
  if [ "$(id -u)" != 0 ] && ! command -v sudo > /dev/null; then
    echo "deploy/need.sh: run as root or install sudo; needed: $missing" >&2
    exit 1
  fi
  # shellcheck disable=SC2086
  install_quietly $missing
fi

# The dashboard's tools want Node 20.19 or later (not 21, 22.12 or later) and npm 11.
node_fits() {
  node -e 'const [a, b] = process.versions.node.split(".").map(Number);
           process.exit((a === 20 && b >= 19) || (a === 22 && b >= 12) || a >= 24 ? 0 : 1)' 2>/dev/null &&
    [ "$(npm --version 2>/dev/null | cut -d. -f1)" -ge 11 ] 2>/dev/null
}

fetch_node() {
  case $(uname -m) in
  x86_64) arch=x64 ;;
  aarch64) arch=arm64 ;;
  *) echo "deploy/need.sh: install Node 22 and npm 11 by hand on $(uname -m)" >&2 && exit 1 ;;
  esac
  if ! command -v npm > /dev/null; then
    echo "installing: npm"
    install_quietly npm
  fi
  echo "installing: Node 22 and npm 11 into build/node"
  rm -rf build/node build/node.new
  mkdir -p build/node.new/bin
  (cd build/node.new && echo '{"private":true}' > package.json &&
    npm install --silent --no-audit --no-fund --no-update-notifier --ignore-scripts --save-exact \
      "node-linux-$arch@22.23.3" npm@11.21.2 > npm.log 2>&1) || { cat build/node.new/npm.log >&2; exit 1; }
  ln -s "../node_modules/node-linux-$arch/bin/node" build/node.new/bin/node
  ln -s ../node_modules/npm/bin/npm-cli.js build/node.new/bin/npm
  ln -s ../node_modules/npm/bin/npx-cli.js build/node.new/bin/npx
  mv build/node.new build/node
}

for group in "$@"; do
  [ "$group" = web ] || continue
  PATH="$PWD/build/node/bin:$PATH"
  node_fits || fetch_node
  node_fits || { echo "deploy/need.sh: the Node in build/node does not run here" >&2; exit 1; }
done
