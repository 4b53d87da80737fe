#!/bin/sh
# deploy/foundation.sh FOLDER - unpack the real CFRunLoop for this machine into FOLDER: Swift's Foundation with the C library that
# it needs, from Debian 13. Prints nothing if FOLDER has it. Status 77: it cannot be had, and why.
set -eu
packages='libswiftlang libc6 libstdc++6 libgcc-s1 zlib1g'
[ "$(cat "$1/complete" 2>/dev/null)" != "$packages" ] || exit 0
# shellcheck disable=SC2086
"$(dirname "$0")/debian13.sh" "$1" alone $packages
echo "$packages" > "$1/complete"
