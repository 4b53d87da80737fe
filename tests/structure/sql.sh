#!/bin/sh
# tests/structure/sql.sh [MIRED] - the tables obey the rules at the top of schema/sql/0001.
#
# Asked of a real database, after MIRED has migrated it (or, without MIRED, after psql has run schema/sql/*.sql).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${MIRE_SOURCE_DIR:-$here/../..}"
. "$here/../support/postgres.sh"
trap postgres_stop EXIT
trap 'exit 1' INT TERM
postgres_start

if [ $# -gt 0 ]; then
  "$1" migrate --database-url "$postgres_url" > /dev/null
else
  for file in schema/sql/*.sql; do psql -q1 -v ON_ERROR_STOP=1 -f "$file"; done
fi

faults=$(psql -qAt -v ON_ERROR_STOP=1 -f "$here/sql.sql")
# Statements that would tie the server to one machine.
spoken=$(grep -rnwE 'LISTEN|NOTIFY|pg_notify|CREATE (TRIGGER|EXTENSION|RULE)' schema/sql/*.sql server/src --include=*.sql --include=*.c |
  grep -vE ':[0-9]+:[[:space:]]*(--|//|/?\*)' || true)
[ -z "$faults$spoken" ] || { printf '%s\n' "$faults" "$spoken" | sed '/^$/d'; exit 1; }
tables=$(psql -qAtc "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')")
[ "$tables" -gt 0 ] || { echo 'no tables' && exit 1; }
