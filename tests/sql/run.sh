#!/bin/sh
# tests/sql/run.sh - runs every NN_*.sql here on a throwaway PostgreSQL with the migrations applied.
#
# Each file is one transaction that is rolled back: it states how many checks it plans, calls pg_temp.ok(claim, true or
# false), and ends with pg_temp.done(). A failed or missing check is an error.
set -eu
here=${MIRE_SOURCE_DIR:?}/tests
dir=/tmp/mire-sql-$$
trap '"$here/support/pgtest.sh" stop "$dir"' EXIT
conninfo=$("$here/support/pgtest.sh" start "$dir")

sql() { psql -X -q -v ON_ERROR_STOP=1 -d "$conninfo" "$@"; }

for file in "$MIRE_SOURCE_DIR"/schema/sql/[0-9]*.sql; do
  sql -1 -f "$file"
done
for file in "$here"/sql/[0-9]*.sql; do
  echo "$(basename "$file")"
  sql -f "$here/sql/checks.sql" -f "$file"
done
