#!/bin/sh
# deploy/release.sh VERSION - stamps a version, commits and tags it, and puts what is given out into build/release-VERSION.
#
#     deploy/release.sh 0.2.0            or: make release VERSION=0.2.0
#     deploy/release.sh --stamp 0.2.0    the files, commit and tag alone
#
# The changelog must begin with a section "## VERSION, not released", which gets the day's date; every file that names the version
# gets it. The folder then holds the sources, the Debian packages, Android's Maven repository and, as root, the container image with
# its SBOM, beside SHA256SUMS, signed where git has a signing key. Nothing leaves this machine: the last lines say what to push.
set -eu
cd "$(dirname "$0")/.."
stamp_only=
[ "${1:-}" != --stamp ] || { stamp_only=1; shift; }
version=${1:-}

refuse() { echo "release: $1" >&2; exit 1; }
echo "$version" | grep -qxE '[0-9]+\.[0-9]+\.[0-9]+' || refuse "give a version of three numbers, as 0.2.0"
[ -z "$(git status --porcelain)" ] || refuse "the tree has changes: commit or stash them"
! git rev-parse -q --verify "refs/tags/$version" > /dev/null || refuse "the tag $version exists: choose the next version"
grep -qx "## $version, not released" CHANGELOG.md || refuse "CHANGELOG.md has no section '## $version, not released'"

old=$(sed -n 's/^project(.*VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
dots=$(echo "$old" | sed 's/\./\\./g')
sed -i "s/^\(project(.*VERSION \)$dots/\1$version/" CMakeLists.txt
sed -i "s/\"version\": \"$dots\"/\"version\": \"$version\"/; s/\"tag\": \"$dots\"/\"tag\": \"$version\"/; s/\(MIRE_VERSION=[\\\\\"]*\)$dots/\1$version/" Mire.podspec.json
sed -i "s/\"version\": \"$dots\"/\"version\": \"$version\"/" deploy/vcpkg/mire/vcpkg.json
sed -i "s/\(\"MIRE_VERSION\", to: \"[\\\\\"]*\)$dots/\1$version/" Package.swift
sed -i "s/\(mire-android:\)$dots/\1$version/" web/src/model/snippets.ts docs/android.md
sed -i "s/^## $version, not released\$/## $version, $(date -u +%Y-%m-%d)/" CHANGELOG.md
tests/structure/version.sh || refuse "a file kept the old version: mend the lines above in deploy/release.sh, then git checkout ."
signing=$(git config user.signingkey || true)
git commit -q -a -m "release $version"
git tag ${signing:+-s} ${signing:--a} -m "Mire $version" "$version" 2> /dev/null || git tag -a -m "Mire $version" "$version"
echo "release: tagged $version"
[ -z "$stamp_only" ] || exit 0

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
out=$PWD/build/release-$version
rm -rf "$out"
mkdir -p "$out"
git archive --prefix="mire-$version/" "$version" | gzip -n9 > "$out/mire-$version.tar.gz"
make package
cp build/packages/*.deb "$out"
make aar
tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C build/aar . | gzip -n9 > "$out/mire-android-$version-maven.tar.gz"
if [ "$(id -u)" = 0 ]; then
  make image
  cp build/images/mire_* "$out"
else
  echo "release: no container image: making one needs root (make image)"
fi
(cd "$out" && sha256sum ./* > SHA256SUMS)
[ -z "$signing" ] || gpg --local-user "$signing" --armor --detach-sign "$out/SHA256SUMS"
echo "release: $out"
echo "release: now: git push origin HEAD $version, and upload the folder"
