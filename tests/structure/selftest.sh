#!/bin/sh
# tests/structure/selftest.sh - each structure test refuses a tree that breaks its rule, and says what is wrong.
#
# A small good tree is made, on which every check passes; then one fault at a time is put in.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
export MIRE_SOURCE_DIR="$tree" MIRE_BINARY_DIR="$tree/build"
faults=0

# put FILE: stdin becomes that file of the tree.
put() {
  mkdir -p "$(dirname "$tree/$1")"
  cat > "$tree/$1"
}

good_tree() {
  rm -rf "${tree:?}"/*
  cp "$here/../../.clang-format" "$tree/"
  put tests/structure/layers.txt <<'T'
sdk base   ->
sdk ring   -> base
server http ->
server pg  ->
server cli ->
door sdk base -> base/base.h
only <libpq-fe.h> server pg
T
  put sdk/include/mire/mire.h <<'T'
int mire_start(void);
T
  put sdk/src/base/base.h <<'T'
struct base;
T
  put sdk/src/ring/ring.h <<'T'
#include "base/base.h"
T
  put sdk/src/ring/ring.c <<'T'
/* ring.c - Signal-safe. */
#include "ring/ring.h"

void mire__ring_as_push(void);
void mire__ring_as_push(void)
{
}
T
  put server/src/http/http.h <<'T'
struct http;
T
  put server/src/cli/show.c <<'T'
struct cli;
T
  put schema/sql/0001_one.sql <<'T'
CREATE TABLE note (slot smallint, CONSTRAINT note_is_one_per_slot PRIMARY KEY (slot));
COMMENT ON TABLE note IS 'Notes.';
COMMENT ON COLUMN note.slot IS 'Slot.';
COMMENT ON INDEX note_is_one_per_slot IS 'Serves: nobody.';
T
  put README.md <<'T'
See [the ring](sdk/src/ring/ring.h) and `schema/sql`.
T
  put tests/structure/signal-allowed.txt <<'T'
memcpy
T
  build
}

# The safe object and a library, where the checks look for them.
build() {
  mkdir -p "$tree/build/sdk/CMakeFiles/sdk_ring.dir/src/ring"
  gcc -fPIC -I"$tree/sdk/src" -c "$tree/sdk/src/ring/ring.c" -o "$tree/build/sdk/CMakeFiles/sdk_ring.dir/src/ring/ring.c.o"
  gcc -shared "$tree/build/sdk/CMakeFiles/sdk_ring.dir/src/ring/ring.c.o" -o "$tree/build/libone.so"
  echo mire__ring_as_push > "$tree/exports.txt"
}

run() {
  case $1 in
  exports) "$here/exports.sh" "$tree/build/libone.so" "$tree/exports.txt" ;;
  tags) "$here/tags.py" ;;
  cited) "$here/cited.py" ;;
  circles) "$here/circles.py" 0 1 ;;
  *) "$here/$1.sh" ;;
  esac
}

# refuses CHECK WORDS: the check fails on the tree as it stands, and what it prints holds the words.
refuses() {
  if said=$(run "$1" 2>&1); then
    echo "$1 accepts: $2"
    faults=$((faults + 1))
  elif ! printf '%s' "$said" | grep -qF -- "$2"; then
    printf '%s fails without saying "%s":\n%s\n' "$1" "$2" "$said"
    faults=$((faults + 1))
  fi
  good_tree
}

good_tree
for check in format layers headers exports signal say sql links tags circles cited; do
  said=$(run $check 2>&1) || { printf '%s refuses a good tree:\n%s\n' "$check" "$said"; faults=$((faults + 1)); }
done

echo 'int  x ;' | put sdk/src/base/base.h
refuses format base.h

echo '#include "ring/ring.h"' | put sdk/src/base/base.h
refuses layers 'sdk base may not include ring'
echo '#include "../base/base.h"' | put sdk/src/ring/ring.h
refuses layers climbs
echo '#include "base.h"' | put sdk/src/ring/ring.h
refuses layers 'does not show its folder'
echo '#include "base/other.h"' | put sdk/src/ring/ring.h
refuses layers 'is private to its folder'
echo '#include <libpq-fe.h>' | put server/src/http/http.h
refuses layers '<libpq-fe.h> does not belong in server http'
echo '#include <mire/mire.h>' | put server/src/http/http.h
refuses layers 'nothing of the SDK'
printf '#include "base/base.h"\n#include "ring/ring.h"\n' | put sdk/src/ring/ring.c
refuses layers 'before its own header'
echo 'struct other;' | put sdk/src/other/other.h
refuses layers 'sdk other" is not in layers.txt'
sed -i 's/^sdk base   ->$/sdk base   -> ring/' "$tree/tests/structure/layers.txt"
refuses layers 'in a circle'

echo 'size_t mire_size(void);' | put sdk/include/mire/more.h
refuses headers 'more.h does not compile alone'
echo 'int mire_new(int *class, int new);' | put sdk/include/mire/more.h
refuses headers 'g++'
echo 'struct twice { int x; };' | put sdk/src/base/base.h
refuses headers 'base/base.h does not compile alone'

echo mire_missing >> "$tree/exports.txt"
refuses exports '-mire_missing'
: > "$tree/exports.txt"
refuses exports '+mire__ring_as_push'

printf '/* ring.c - Signal-safe. */\n#include <stdlib.h>\nvoid *f(void);\nvoid *f(void) { return malloc(1); }\n' | put sdk/src/ring/ring.c
build
refuses signal 'calls malloc'
echo '/* ring.c - ordinary code. */' | put sdk/src/ring/ring.c
refuses signal 'no file says'

# shellcheck disable=SC2028
echo '    printf("%s\n", name);' | put server/src/cli/show.c
refuses say 'show.c:1:'

echo 'struct cli { int x; };' | put server/src/cli/show.c
echo 'struct cli { int x; };' | put server/src/http/http.h
refuses tags 'server: cli is defined in server/src/cli/show.c, server/src/http/http.h'

printf '#include "base/base.h"\n#include "ring/ring.h"\n' | put sdk/src/base/base.c
refuses circles 'sdk/src/base/base, sdk/src/ring/ring'

echo '/* The rings: see ring/rings.h. */' | put sdk/src/base/base.h
refuses cited 'base.h:1: names ring/rings.h'

sql() { echo "$1" >> "$tree/schema/sql/0001_one.sql"; }
sql 'CREATE TABLE bare (a int CONSTRAINT bare_is_known PRIMARY KEY);'
refuses sql 'table bare has no COMMENT'
sql 'CREATE TABLE bare (a int CONSTRAINT bare_is_known PRIMARY KEY);'
refuses sql 'column bare.a has no COMMENT'
sql 'CREATE TABLE bare (a int CONSTRAINT bare_is_known PRIMARY KEY);'
refuses sql 'index bare_is_known has no COMMENT'
sql 'CREATE TABLE bare (a int CONSTRAINT bare_is_known PRIMARY KEY);'
refuses sql 'does not lead with slot'
sql 'CREATE TABLE bare (a int);'
refuses sql 'table bare has no primary key'
sql 'CREATE TABLE bare (slot int PRIMARY KEY);'
refuses sql 'constraint bare_pkey of bare has a made-up name'
sql 'CREATE TABLE bare (slot int REFERENCES note);'
refuses sql 'foreign key'
sql 'ALTER TABLE note ADD COLUMN a int CONSTRAINT note_a_is_unique UNIQUE;'
refuses sql 'unique index note_a_is_unique of note lacks slot'
sql 'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$; CREATE TRIGGER t BEFORE INSERT ON note EXECUTE FUNCTION f();'
refuses sql 'trigger t on note'
printf 'const char *text = "NOTIFY work";\n' | put server/src/http/http.c
refuses sql NOTIFY

echo 'See [nothing](sdk/nothing.h).' | put README.md
refuses links 'names sdk/nothing.h'
# shellcheck disable=SC2016
echo 'See `schema/nothing`.' | put README.md
refuses links 'names schema/nothing'
echo '/* see docs/nothing.md */' | put sdk/src/base/base.h
refuses links 'base.h:1: names docs/nothing.md'

[ "$faults" = 0 ]
