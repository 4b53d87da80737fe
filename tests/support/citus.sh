#!/bin/sh
# Databases of their own for tests on a Citus cluster, whose coordinator's database MIRE_CITUS_URL names. A superuser's.
#
#   citus.sh make NAME   makes it on every machine, with the extension; prints its connection string
#   citus.sh drop NAME   drops it everywhere, if it is there
#
# Tables have few shards, so that a database is made fast.
set -eu

name=$2
nodes=$(psql -qXAtF ' ' "$MIRE_CITUS_URL" -c "SELECT nodename, nodeport FROM pg_dist_node WHERE groupid > 0 ORDER BY nodeid")
at() { psql -qXAt -v ON_ERROR_STOP=1 "$@" >/dev/null; }
coordinator=$(psql -qXAt "$MIRE_CITUS_URL" -c "SELECT format('host=%s port=%s user=%s', nodename, nodeport, current_user) FROM pg_dist_node
    WHERE groupid = 0")
user=${coordinator##* user=}

each() { # NAME-OF-DATABASE SQL...: on every machine
    database=$1
    shift
    at "$coordinator dbname=$database" "$@"
    echo "$nodes" | while read -r host port; do at "host=$host port=$port user=$user dbname=$database" "$@"; done
}

case $1 in
make)
    each postgres -c "SET citus.enable_create_database_propagation = off" -c "CREATE DATABASE $name"
    each "$name" -c "CREATE EXTENSION citus"
    at "$coordinator dbname=$name" -c "SELECT citus_set_coordinator_host(nodename, nodeport) FROM (VALUES ($(
        psql -qXAt "$MIRE_CITUS_URL" -c "SELECT format('%L, %s', nodename, nodeport) FROM pg_dist_node WHERE groupid = 0"
    ))) n (nodename, nodeport)"
    echo "$nodes" | while read -r host port; do at "$coordinator dbname=$name" -c "SELECT citus_add_node('$host', $port)"; done
    at "$coordinator dbname=$name" -c "ALTER DATABASE $name SET citus.shard_count = 4"
    echo "$coordinator dbname=$name"
    ;;
drop)
    each postgres -c "SET citus.enable_create_database_propagation = off" -c "DROP DATABASE IF EXISTS $name WITH (FORCE)"
    ;;
*)
    echo "usage: citus.sh make|drop NAME" >&2
    exit 2
    ;;
esac
