#!/bin/sh
# Databases of their own for tests on a Citus cluster, whose coordinator's database MIRE_CITUS_URL names. A superuser's.
#
#   citus.sh make NAME   makes it on every machine as deploy/scale/citus.sh does; prints its connection string
#   citus.sh drop NAME   drops it everywhere, if it is there
#
# Tables have few shards, so that a database is made fast.
set -eu

name=$2
ask() { psql -qXAt "$MIRE_CITUS_URL" -c "$1"; }
nodes=$(ask "SELECT nodename || ':' || nodeport FROM pg_dist_node ORDER BY groupid")
PGUSER=$(ask "SELECT current_user")
export PGUSER

each() { # SQL: on every machine
    for node in $nodes; do
        psql -qXAt -v ON_ERROR_STOP=1 -h "${node%%:*}" -p "${node##*:}" -d postgres -c "SET citus.enable_create_database_propagation = off" \
            -c "$1" >/dev/null
    done
}

case $1 in
make)
    each "CREATE DATABASE $name"
    # shellcheck disable=SC2086
    PGDATABASE=$name "$(dirname "$0")/../../deploy/scale/citus.sh" $nodes
    first=${nodes%%
*}
    url="host=${first%%:*} port=${first##*:} user=$PGUSER dbname=$name"
    psql -qXAt "$url" -c "ALTER DATABASE $name SET citus.shard_count = 4"
    echo "$url"
    ;;
drop)
    each "DROP DATABASE IF EXISTS $name WITH (FORCE)"
    ;;
*)
    echo "usage: citus.sh make|drop NAME" >&2
    exit 2
    ;;
esac
