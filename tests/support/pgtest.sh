#!/bin/sh
# A throwaway PostgreSQL for one test: unix socket only, unprivileged, gone when the test is.
#
#   pgtest.sh start DIR    makes and starts it; prints its connection string
#   pgtest.sh become DIR   makes it and becomes it: a child of the test, which ends with the test however that ends; its log is
#                          $MIRE_PG_LOG, if that is set
#   pgtest.sh await DIR    waits until that one answers; prints its connection string
#   pgtest.sh stop DIR     stops it and removes DIR
#
# $MIRE_PG_OPTIONS are further options of PostgreSQL.
#
# DIR must not exist or be empty, and have a short path (a socket's path has at most 107 bytes).
set -eu

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
[ -n "$bin" ] || bin=$(dirname "$(command -v postgres)")
dir=$2

user=
[ "$(id -u)" != 0 ] || user='--reuid=nobody --regid=nogroup --clear-groups'
options="-c listen_addresses= -c unix_socket_permissions=0777 -c shared_buffers=32MB -c max_connections=60 ${MIRE_PG_OPTIONS-}"

# shellcheck disable=SC2086
as_user() { setpriv $user -- "$@"; }

make_cluster() {
    mkdir -p "$dir"
    [ "$(id -u)" != 0 ] || chown nobody:nogroup "$dir"
    cd "$dir"
    as_user "$bin/initdb" -D "$dir/data" -U mire -A trust -E UTF8 --locale=C -N >"$dir.log" 2>&1 || { cat "$dir.log" >&2; exit 1; }
}

tell() {
    rm -f "$dir.log"
    echo "host=$dir user=mire dbname=postgres"
}

case $1 in
start)
    make_cluster
    as_user "$bin/pg_ctl" -D "$dir/data" -w -t 60 -l "$dir/log" start -o "-k $dir $options" \
        >"$dir.log" 2>&1 || { cat "$dir.log" "$dir/log" >&2; exit 1; }
    tell
    ;;
become)
    make_cluster
    # shellcheck disable=SC2086
    exec setpriv $user --pdeathsig=QUIT -- "$bin/postgres" -D "$dir/data" -k "$dir" $options >>"${MIRE_PG_LOG:-$dir.log}" 2>&1
    ;;
await)
    tries=600
    until "$bin/pg_isready" -q -h "$dir"; do
        tries=$((tries - 1))
        [ "$tries" != 0 ] || { cat "$dir.log" >&2; exit 1; }
        sleep 0.1
    done
    tell
    ;;
stop)
    cd /
    as_user "$bin/pg_ctl" -D "$dir/data" -m immediate -w stop >/dev/null 2>&1 || true
    rm -rf "$dir" "$dir.log"
    ;;
*)
    echo "usage: pgtest.sh start|become|await|stop DIR" >&2
    exit 2
    ;;
esac
