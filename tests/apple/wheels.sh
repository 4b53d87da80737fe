#!/bin/sh
# tests/apple/wheels.sh - libraries that Apple's compiler made, as Python's wheels have them, pinned, in build/apple/wheels;
# fetched once from PyPI. Prints the folder. Status 77: they cannot be had, and why.
set -eu
cd "$(dirname "$0")/../.."
folder=$PWD/build/apple/wheels
wheels='lz4==4.4.5:macosx_11_0_arm64:311 lz4==4.4.5:macosx_10_9_x86_64:311
        zstandard==0.25.0:macosx_11_0_arm64:311 zstandard==0.25.0:macosx_10_9_x86_64:311
        markupsafe==3.0.4:macosx_11_0_arm64:311 markupsafe==3.0.4:macosx_10_9_x86_64:311
        pillow==13.0.0:macosx_11_0_arm64:313 pillow==13.0.0:ios_13_0_arm64_iphoneos:313'
if [ "$(cat "$folder/complete" 2>/dev/null)" != "$wheels" ]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  for wheel in $wheels; do
    rest=${wheel#*:}
    python3 -m pip download -q --no-deps --only-binary=:all: -d "$folder" --platform "${rest%:*}" --python-version "${rest#*:}" \
      "${wheel%%:*}" > "$folder/log" 2>&1 || { echo "${wheel%%:*} cannot be fetched from PyPI ($folder/log)" && exit 77; }
  done
  echo "$wheels" > "$folder/complete"
fi
echo "$folder"
