#!/bin/sh
# The container image of `make image`, used as an engine uses it: unpacked, its own entry point, words, environment and user in a
# root of their own, beside a PostgreSQL outside. Its SBOM lists the packages that its root file system has. Skipped where no
# image was made, for that takes root and minutes.
set -eu

if [ "${1:-}" = inside ]; then # in a mount namespace of its own: $2 is the image's root
  mount --rbind /proc "$2/proc"
  mount --bind "$PGHOST" "$2/mnt"
  mount --bind /dev/null "$2/dev/null" 2> /dev/null || { : > "$2/dev/null" && mount --bind /dev/null "$2/dev/null"; }
  # shellcheck disable=SC2046,SC2086
  exec env -i $image_env DATABASE_URL="postgresql://mire@/postgres?host=/mnt" MIRED_LISTEN=127.0.0.1:0 \
    /usr/sbin/chroot --userspec="$image_user" "$2" $image_words --port-file /var/lib/mire/port
fi

image=$(ls "$MIRE_SOURCE_DIR"/build/images/mire_*.oci.tar 2> /dev/null | head -n 1)
[ -n "$image" ] && [ "$(id -u)" = 0 ] && command -v umoci > /dev/null && unshare --mount true 2> /dev/null ||
  { echo "skipped: no image: make image makes one, as root"; exit 77; }

. "$MIRE_SOURCE_DIR/tests/support/postgres.sh"
work=$(mktemp -d /tmp/mire-image.XXXXXX)
served=
trap '[ -z "$served" ] || kill "$served" 2> /dev/null || true; [ -z "$served" ] || wait "$served" || true; postgres_stop; rm -rf "$work"' EXIT
fail() { echo "$1" >&2; exit 1; }

(cd "$(dirname "$image")" && sha256sum --quiet --check SHA256SUMS)
mkdir "$work/layout"
tar -xf "$image" -C "$work/layout"
tag=$(basename "$image" | cut -d_ -f2)
umoci unpack --image "$work/layout:$tag" "$work/bundle" > /dev/null
root=$work/bundle/rootfs

# What an engine reads.
read_config() { python3 -c "import json, sys; print($1)" < "$work/bundle/config.json"; }
image_words=$(read_config '" ".join(json.load(sys.stdin)["process"]["args"])')
image_user=$(read_config '"{uid}:{gid}".format(**json.load(sys.stdin)["process"]["user"])')
image_env=$(read_config '" ".join(e for e in json.load(sys.stdin)["process"]["env"] if "TERM=" not in e)')
[ "$image_words" = "mired serve" ] || fail "the image starts '$image_words'"
[ "${image_user%%:*}" -gt 0 ] || fail "the image runs as root"
export image_words image_user image_env

# Its parts: dpkg's own list against the SBOM's two forms.
sed -n 's/^Package: //p' "$root/var/lib/dpkg/status" | LC_ALL=C sort > "$work/packages"
cat > "$work/parts.py" << 'PARTS'
import json
import sys

def links(part):
    yield part.get("purl", "")
    for one in part.get("externalRefs", []):
        yield one["referenceLocator"]

parts = json.load(sys.stdin)
parts = parts.get("components") or parts["packages"]
deb = {p["name"].split(":")[0] for p in parts if any("pkg:deb" in link and "arch=source" not in link for link in links(p))}
print(*sorted(deb), sep="\n")
PARTS
sbom=${image%.oci.tar}
python3 "$work/parts.py" < "$sbom.cdx.json" > "$work/cdx"
python3 "$work/parts.py" < "$sbom.spdx.json" > "$work/spdx"
diff "$work/packages" "$work/cdx" || fail "CycloneDX lists other packages than dpkg"
diff "$work/packages" "$work/spdx" || fail "SPDX lists other packages than dpkg"
grep -qx mired "$work/packages" || fail "mired is not among the packages"
for leftover in etc/machine-id var/lib/apt/lists/lock; do [ ! -s "$root/$leftover" ] || fail "/$leftover is in the image"; done

postgres_start
chmod 755 "$work" "$work/bundle"
unshare --mount --propagation private "$0" inside "$root" > "$work/log" 2>&1 &
served=$!
wait=600
until [ -s "$root/var/lib/mire/port" ]; do
  wait=$((wait - 1))
  [ "$wait" -gt 0 ] && kill -0 "$served" 2> /dev/null || { cat "$work/log" >&2; fail "mired does not start"; }
  sleep 0.1
done
url=http://127.0.0.1:$(cat "$root/var/lib/mire/port")
curl -sf "$url/healthz" | grep -q '"database": *"ok"' || fail "not healthy"
curl -sf "$url/" > "$work/page" && grep -qi "<html" "$work/page" || fail "no dashboard"
kill -TERM "$served"
wait "$served" || fail "SIGTERM ends it with status $?"
served=
