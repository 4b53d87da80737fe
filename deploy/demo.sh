#!/bin/sh
# deploy/demo.sh - Mire's main job on this machine: real programs hang, and the dashboard says why. `make demo` builds first.
#
#   redis-server, as Debian ships it, under `mire run`: slow commands on millions of keys
#   stall_glib (sdk/examples), linked with libmire: waits for the disk, for a lock, and computes
#   redis-server again, in a control group with little memory: a list grows until the kernel kills it
#   (where no such group can be made, it reports what it holds when it has grown)
#
# Stays until Ctrl-C; with DEMO_EXIT=1 it ends when the issues are shown. Files lie in /var/tmp/mire-demo-UID (DEMO_DIR) and
# are created afresh each time. Every process is a child of this one and dies with it, even by kill -9; all of them hold the
# lock of that folder, so the next demo begins when the last of them is gone.
set -eu
cd "$(dirname "$0")/.."
home=${DEMO_DIR:-/var/tmp/mire-demo-$(id -u)}
port=${DEMO_PORT:-7117}
redis_keys=4000000
redis_list=1000000
threshold_ms=1000
memory_bytes=201326592 # of the control group
begun=$(date +%s)

say() { printf '[%3d s] %s\n' "$(($(date +%s) - begun))" "$*"; }
fail() { # fail TEXT [LOG]
  say "$1" >&2
  [ -z "${2:-}" ] || tail -n 20 "$2" >&2
  exit 1
}

# until_true SECONDS COMMAND...
until_true() {
  tries=$(($1 * 5))
  shift
  until "$@"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 0.2
  done
}

# Children ------------------------------------------------------------------------------------------------------------

children=
group=
spawn() { # spawn LOG COMMAND...: in the background; $! is its pid
  log=$1
  shift
  setpriv --pdeathsig TERM "$@" > "$log" 2>&1 < /dev/null &
  children="$! $children"
}
is_over() { case $(ps -o stat= -p "$1") in '' | Z*) true ;; *) false ;; esac }
stop() {
  kill -TERM "$1" 2> /dev/null || return 0
  until_true 20 is_over "$1" || kill -KILL "$1"
  wait "$1" 2> /dev/null || true
}
finish() {
  status=$?
  trap - EXIT
  trap '' INT TERM HUP
  for child in $children; do stop "$child"; done
  [ -z "$group" ] || rmdir "$group" 2> /dev/null || true
  say 'stopped; nothing of the demo runs any more'
  exit "$status"
}

# A home of its own ---------------------------------------------------------------------------------------------------

mkdir -p "$home"
[ -O "$home" ] || fail "$home belongs to someone else; set DEMO_DIR"
chmod 755 "$home"
exec 9> "$home/lock"
if ! flock -n 9; then
  say 'waiting for the previous demo to end'
  flock -w 40 9 || fail "another demo runs here; set DEMO_DIR and DEMO_PORT for a second one"
fi
trap finish EXIT
trap 'exit 0' INT TERM HUP
find "$home" -mindepth 1 -maxdepth 1 ! -name lock -exec rm -rf {} +

say "installing into $home/mire"
cmake --install build/release --prefix "$home/mire" > "$home/install.log" || fail 'the installation failed' "$home/install.log"
export PATH="$home/mire/bin:$PATH"

# The server ----------------------------------------------------------------------------------------------------------

# 7 is curl's "nobody answers": the port is free. Else any free one will do.
refused=0
curl -s -o "$home/probe" "http://127.0.0.1:$port/" || refused=$?
[ "$refused" = 7 ] || port=0

say 'starting mired with a private PostgreSQL'
spawn "$home/mired.log" mired serve --data-dir "$home/data" --listen "127.0.0.1:$port" --port-file "$home/port" \
  --web-dir "$home/mire/share/mire/web" --local-images yes
mired=$!
is_ready() {
  is_over "$mired" && fail 'mired ended' "$home/mired.log"
  [ -s "$home/port" ] && curl -fs -o "$home/probe" "http://127.0.0.1:$(cat "$home/port")/healthz"
}
until_true 60 is_ready || fail 'mired does not answer' "$home/mired.log"
url=http://127.0.0.1:$(cat "$home/port")

# key_of APP: makes the app and prints its ingest key.
key_of() { mire key create "$1" --label demo --data-dir "$home/data" || fail "no key for $1" "$home/mired.log"; }

# Programs that hang --------------------------------------------------------------------------------------------------

say 'starting redis-server under mire run'
redis_key=$(key_of redis-server)
MIRE_KEY=$redis_key
export MIRE_KEY MIRE_SERVER="$url"
redis_version=$(redis-server --version | sed -n 's/.* v=\([^ ]*\).*/\1/p')
# Each command is given more than once: without suppress_ms=0 the repeats would be counted on the device, and told later.
spawn "$home/redis.log" env MIRE_SETTINGS=suppress_ms=0 mire run --app-version "$redis_version" --store "$home/store-redis" --threshold "$threshold_ms" -- \
  redis-server --port 0 --unixsocket "$home/redis.sock" --save '' --enable-debug-command yes
redis=$!
redis() { redis-cli -s "$home/redis.sock" "$@" > "$home/redis.out"; }
until_true 10 redis PING 2> "$home/probe" || fail 'redis-server does not answer' "$home/redis.log"

say 'starting stall_glib, linked with libmire'
MIRE_KEY=$(key_of stall-glib)
spawn "$home/stall.log" build/release/sdk/stall_glib --server "$url" --key "$MIRE_KEY" --store "$home/store-stall" \
  --threshold "$threshold_ms" --directory "$home"
stall=$!
unset MIRE_KEY

say "filling redis with $redis_keys keys"
redis DEBUG POPULATE "$redis_keys"
redis EVAL 'for i = 1, ARGV[1] do redis.call("RPUSH", "list", (i * 7919) % 1000003) end' 0 "$redis_list"
for _ in 1 2 3; do
  say 'redis: KEYS *'
  redis KEYS '*'
done
for _ in 1 2; do
  say 'redis: SORT list BY key:* ALPHA'
  redis SORT list BY 'key:*' ALPHA
done
say 'redis: DEBUG SLEEP 3'
redis DEBUG SLEEP 3
redis PING

say 'waiting for stall_glib to end'
until_true 60 is_over "$stall" || fail 'stall_glib does not end' "$home/stall.log"
say 'stopping redis-server; mire run sends what is left'
stop "$redis"

# A program that runs out of memory -----------------------------------------------------------------------------------

# make_group BYTES: a control group of that limit, version 1 or 2; false where none can be made.
make_group() {
  for root in /sys/fs/cgroup/memory /sys/fs/cgroup; do
    [ ! -w "$root/cgroup.subtree_control" ] || echo +memory > "$root/cgroup.subtree_control" 2> /dev/null || true
    mkdir "$root/mire-demo-$$" 2> /dev/null || continue
    group=$root/mire-demo-$$
    for limit in memory.limit_in_bytes memory.max; do
      [ ! -w "$group/$limit" ] || ! echo "$1" > "$group/$limit" || return 0
    done
    rmdir "$group"
    group=
  done
  return 1
}

# What sh runs to be in the control group $0, if that is not empty, and become a command.
in_group='[ -z "$0" ] || echo $$ > "$0/cgroup.procs"; exec "$@"'

# grow ITEMS [SETTINGS]: a redis-server whose list grows to so many items; its pid is in $small.
grow() {
  spawn "$home/redis-small.log" sh -c "$in_group" "$group" env MIRE_MEMORY=exact MIRE_KEY="$redis_key" MIRE_SERVER="$url" \
    MIRE_SETTINGS="${2:-}" mire run --app-version "$redis_version" --store "$home/store-small" -- \
    redis-server --port 0 --unixsocket "$home/small.sock" --save ''
  small=$!
  until_true 10 redis-cli -s "$home/small.sock" PING > "$home/redis.out" 2>&1 || fail 'redis-server does not answer' "$home/redis-small.log"
  redis-cli -s "$home/small.sock" EVAL 'for i = 1, ARGV[1] do redis.call("RPUSH", "history", string.rep("x", 400) .. i) end' 0 "$1" \
    > "$home/redis.out" 2>&1 || true
}

if make_group "$memory_bytes"; then
  say "redis-server with $((memory_bytes >> 20)) MiB of memory: RPUSH history, until the kernel kills it"
  grow 2000000
  until_true 30 is_over "$small" || fail 'redis-server lives' "$home/redis-small.log"
else
  say 'no control group can be made here: redis-server reports when it takes half as much'
  grow 400000 "footprint_kib=$((memory_bytes >> 11))"
  sleep 2
  stop "$small"
fi

# What came of it -----------------------------------------------------------------------------------------------------

is_worked_on() { curl -fs "$url/api/v1/apps/$1/overview" | grep -q '"waiting": *0[,}]'; }
for app in redis-server stall-glib; do
  until_true 60 is_worked_on "$app" || fail "reports of $app are still waiting" "$home/mired.log"
  printf '\n%s\n' "$app"
  mire issues --app "$app"
done
printf '\nDashboard: %s\n\n' "$url"

[ -z "${DEMO_EXIT:-}" ] || exit 0
say 'Ctrl-C ends it'
wait "$mired" || fail 'mired ended' "$home/mired.log"
