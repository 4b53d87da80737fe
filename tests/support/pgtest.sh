#!/bin/sh
# A throwaway PostgreSQL for one test: unix socket only, unprivileged, gone when the test is.
#
#   pgtest.sh start DIR    makes and starts it; prints its connection string
#   pgtest.sh stop DIR     stops it and removes DIR
#
# DIR must not exist or be empty, and have a short path (a socket's path has at most 107 bytes).
set -eu

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
[ -n "$bin" ] || bin=$(dirname "$(command -v postgres)")
dir=$2

as_user() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=nobody --regid=nogroup --clear-groups -- "$@"
    else
        "$@"
    fi
}

case $1 in
start)
    mkdir -p "$dir"
    [ "$(id -u)" != 0 ] || chown nobody:nogroup "$dir"
    cd "$dir"
    as_user "$bin/initdb" -D "$dir/data" -U mire -A trust -E UTF8 --locale=C -N >"$dir.log" 2>&1 || { cat "$dir.log" >&2; exit 1; }
    as_user "$bin/pg_ctl" -D "$dir/data" -w -t 60 -l "$dir/log" start \
        -o "-k $dir -c listen_addresses= -c unix_socket_permissions=0777 -c shared_buffers=32MB -c max_connections=60" \
        >"$dir.log" 2>&1 || { cat "$dir.log" "$dir/log" >&2; exit 1; }
    rm -f "$dir.log"
    echo "host=$dir user=mire dbname=postgres"
    ;;
stop)
    cd /
    as_user "$bin/pg_ctl" -D "$dir/data" -m immediate -w stop >/dev/null 2>&1 || true
    rm -rf "$dir"
    ;;
*)
    echo "usage: pgtest.sh start|stop DIR" >&2
    exit 2
    ;;
esac
