#!/bin/sh
# Makes a Citus cluster of PostgreSQL servers that have Citus: the extension on every one, and the workers known to the
# coordinator. It may run again, with more workers.
#
#   citus.sh COORDINATOR WORKER...   each HOST or HOST:PORT
#
# PGUSER, PGPASSWORD and PGDATABASE are those of mired on every server; the role is a superuser, and the database exists.
set -eu

at() { # HOST[:PORT] and words of psql
    node=$1
    shift
    psql -qXAt -v ON_ERROR_STOP=1 -h "${node%%:*}" -p "$(port "$node")" "$@"
}
port() { case $1 in *:*) echo "${1##*:}" ;; *) echo 5432 ;; esac }

for node; do
    at "$node" <<'SQL'
\set password ''
\getenv password PGPASSWORD
CREATE EXTENSION IF NOT EXISTS citus;
INSERT INTO pg_dist_authinfo (nodeid, rolename, authinfo) SELECT n, current_user, format('password=''%s''', regexp_replace(:'password', '([''\\])', '\\\1', 'g'))
    FROM unnest(ARRAY[-1, 0]) n WHERE :'password' <> '' ON CONFLICT (nodeid, rolename) DO UPDATE SET authinfo = EXCLUDED.authinfo;
SQL
done
coordinator=$1
shift
at "$coordinator" -v host="${coordinator%%:*}" -v port="$(port "$coordinator")" >/dev/null <<'SQL'
SELECT citus_set_coordinator_host(:'host', :port);
SQL
for node; do
    at "$coordinator" -v host="${node%%:*}" -v port="$(port "$node")" >/dev/null <<'SQL'
SELECT citus_add_node(:'host', :port);
SQL
done
