#!/bin/sh
# deploy/package/image.sh - the container image of mired, and the list of its parts, in build/images.
#
#     make image          an OCI archive of this architecture, and its SBOM as SPDX and as CycloneDX; needs root, and no container engine
#
# The image is Debian's essential packages, the libraries that mired links, and the package of `make package`. The same packages
# give the same bytes: times are those of the commit (SOURCE_DATE_EPOCH). MIRROR names another source of Debian's packages, as a
# snapshot of one day.
set -eu
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^project(.*VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
arch=$(dpkg --print-architecture)
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || stat -c %Y CMakeLists.txt)}
export SOURCE_DATE_EPOCH
made=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
deb=$PWD/build/packages/mired_${version}_$arch.deb
out=$PWD/build/images
name=mire_${version}_$arch
sbom=$PWD/build/debsbom

[ -e "$deb" ] || { echo "image: $deb is missing: run make package"; exit 1; }
[ "$(id -u)" = 0 ] || { echo "image: making a root file system needs root: run it with sudo"; exit 1; }
if ! [ -x "$sbom/bin/debsbom" ]; then
  python3 -m venv "$sbom"
  "$sbom/bin/pip" -q install --require-hashes -r deploy/package/sbom.txt
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
rm -f "$out/$name".*

# The proxy of this machine's apt, where it has one, is for the download alone.
apt-config dump | grep -iE '^Acquire::https?::proxy' > "$work/apt" || true
libraries=$(dpkg-deb -f "$deb" Depends | sed 's/([^)]*)//g; s/|[^,]*//g; s/ //g')
mmdebstrap --quiet --variant=essential --include="$libraries,ca-certificates" --aptopt="$work/apt" \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' --dpkgopt='path-include=/usr/share/doc/mired/*' \
  --customize-hook='chroot "$1" useradd --user-group --no-create-home --uid 7117 --home-dir /var/lib/mire --shell /usr/sbin/nologin mire' \
  --customize-hook='chroot "$1" install -d -o mire -g mire -m 700 /var/lib/mire-secret' \
  --customize-hook="copy-in '$deb' /tmp" \
  --customize-hook='chroot "$1" sh -c "dpkg --install /tmp/mired_*.deb && rm /tmp/mired_*.deb"' \
  --customize-hook='rm -rf "$1"/var/cache/ldconfig "$1"/var/cache/debconf "$1"/var/log/* "$1"/etc/apt/apt.conf.d/99mmdebstrap "$1"/etc/*-' \
  "$suite" "$work/layer.tar" ${MIRROR:+"$MIRROR"}

layout=$work/layout
umoci init --layout "$layout"
umoci new --image "$layout:$version"
umoci raw add-layer --image "$layout:$version" --history.created "$made" --history.created_by deploy/package/image.sh "$work/layer.tar"
# Inside the container's own network; what is published is for whoever runs it to say.
umoci config --image "$layout:$version" --created "$made" --history.created "$made" --architecture "$arch" --os linux \
  --config.user mire --config.workingdir /var/lib/mire --config.volume /var/lib/mire --config.exposedports 7117/tcp \
  --config.entrypoint mired --config.cmd serve --config.stopsignal SIGTERM \
  --config.env MIRED_LISTEN=0.0.0.0:7117 --config.env MIRED_DATA_DIR=/var/lib/mire --config.env MIRED_LOG_FORMAT=json \
  --config.env PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  --config.label org.opencontainers.image.title=mired --config.label "org.opencontainers.image.version=$version" \
  --config.label org.opencontainers.image.licenses=Apache-2.0 \
  --config.label "org.opencontainers.image.revision=$(git rev-parse HEAD 2> /dev/null || echo unknown)"
umoci gc --layout "$layout"
tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --file "$out/$name.oci.tar" -C "$layout" .

# The serial number of an SBOM follows from what it lists, so that it too is the same each time.
serial=$(sha256sum "$work/layer.tar" | sed -E 's/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/\1-\2-4\3-8\4-\5/')
"$sbom/bin/debsbom" generate --root "$work/layer.tar" --distro-name mired --distro-version "$version" --distro-arch "$arch" --timestamp "$made" \
  --cdx-serialnumber "$serial" --spdx-namespace "urn:uuid:$serial" --with-licenses --validate -t spdx -t cdx -o "$out/$name"
(cd "$out" && sha256sum "$name".* > SHA256SUMS)
ls "$out"
