# shellcheck shell=sh
# shellcheck disable=SC2086
# tests/support/postgres.sh - a PostgreSQL of the test's own, for shell tests. Sourced.
#
#   postgres_start       start an empty one; from then on psql and libpq reach it without arguments (PGHOST, PGUSER, PGDATABASE),
#                        and $postgres_url names it
#   postgres_stop        stop it and remove its files; call it from the script's EXIT trap
#
# Unix socket only, so that any number can run side by side. As root it runs as user postgres, else nobody.

postgres_bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)

postgres_as=
if [ "$(id -u)" = 0 ]; then
  if id postgres > /dev/null 2>&1; then postgres_user=postgres; else postgres_user=nobody; fi
  postgres_as="setpriv --reuid=$postgres_user --regid=$(id -g "$postgres_user") --clear-groups"
fi

postgres_start() {
  postgres_home=$(mktemp -d /tmp/mire-pg.XXXXXX)
  chmod 711 "$postgres_home"
  mkdir "$postgres_home/data"
  [ -z "$postgres_as" ] || chown "$postgres_user" "$postgres_home" "$postgres_home/data"
  $postgres_as "$postgres_bin/initdb" -D "$postgres_home/data" -U mire -A trust -E UTF8 --locale=C.UTF-8 --no-sync > "$postgres_home/log" 2>&1 ||
    { cat "$postgres_home/log" >&2; return 1; }
  $postgres_as "$postgres_bin/postgres" -D "$postgres_home/data" -k "$postgres_home" -c listen_addresses= -c fsync=off \
    >> "$postgres_home/log" 2>&1 &
  postgres_pid=$!
  export PGHOST="$postgres_home" PGUSER=mire PGDATABASE=postgres
  # shellcheck disable=SC2034
  postgres_url="postgresql://mire@/postgres?host=$postgres_home"
  postgres_wait=100
  until psql -qAtc 'SELECT 1' > /dev/null 2>&1; do
    postgres_wait=$((postgres_wait - 1))
    if [ "$postgres_wait" = 0 ] || ! kill -0 "$postgres_pid" 2> /dev/null; then
      cat "$postgres_home/log" >&2
      return 1
    fi
    sleep 0.1
  done
}

postgres_stop() {
  if [ -n "${postgres_pid:-}" ]; then
    kill -INT "$postgres_pid" 2> /dev/null || true
    wait "$postgres_pid" 2> /dev/null || true
  fi
  [ -z "${postgres_home:-}" ] || rm -rf "$postgres_home"
}
