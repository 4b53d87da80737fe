#!/bin/sh
# deploy/release.sh in a clone: it refuses what cannot be a release, says why, and leaves the clone as it was; else every file has
# the version, the changelog the day, and the tag is on the commit. Skipped where the sources are not in git.
set -eu
git -C "$MIRE_SOURCE_DIR" rev-parse -q --verify HEAD > /dev/null 2>&1 || { echo "skipped: the sources are not in git"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q "$MIRE_SOURCE_DIR" "$work/mire"
cp "$MIRE_SOURCE_DIR/deploy/release.sh" "$work/mire/deploy/" # as it is, committed or not
cp "$MIRE_SOURCE_DIR/tests/structure/version.sh" "$work/mire/tests/structure/"
cd "$work/mire"
git config user.name Kim
git config user.email kim@example.com
git config commit.gpgsign false
git add -A
git commit -q --allow-empty -m now
export MIRE_SOURCE_DIR="$work/mire"

fail() { echo "$1" >&2; exit 1; }

# refused WORD...: WORDs are arguments; stdin is a part of what it says.
refused() {
  before=$(git rev-parse HEAD; git tag; git status --porcelain)
  ! deploy/release.sh "$@" > "$work/said" 2>&1 || fail "release.sh $* was not refused"
  part=$(cat)
  grep -q "$part" "$work/said" || fail "release.sh $* says '$(cat "$work/said")', not '$part'"
  [ "$(git rev-parse HEAD; git tag; git status --porcelain)" = "$before" ] || fail "release.sh $* changed the clone"
}

for word in '' 1.2 v1.2.3 1.2.3-rc1 '1.2.3 x' --stamp; do echo "version of three numbers" | refused "$word"; done
echo "no section" | refused 9.8.7
sed -i '0,/^## /s//## 9.8.7, not released\n\n- A change.\n\n&/' CHANGELOG.md
echo "has changes" | refused 9.8.7
git commit -q -a -m 'a change'
deploy/release.sh --stamp 9.8.7 > /dev/null

tests/structure/version.sh
grep -q 'VERSION 9.8.7 ' CMakeLists.txt || fail "CMakeLists.txt has another version"
grep -qE '^## 9\.8\.7, [0-9]{4}-[0-9]{2}-[0-9]{2}$' CHANGELOG.md || fail "the changelog has no day"
[ "$(git rev-parse '9.8.7^{commit}')" = "$(git rev-parse HEAD)" ] || fail "the tag is elsewhere"
[ -z "$(git status --porcelain)" ] || fail "something was not committed"
echo "tag 9.8.7 exists" | refused 9.8.7

# A file that keeps its version is seen.
sed -i 's/9\.8\.7/9.8.6/' Package.swift
! tests/structure/version.sh > "$work/said" || fail "an old version was not seen"
grep -q '^Package.swift: names version 9.8.6' "$work/said" || fail "said: $(cat "$work/said")"
