#!/bin/sh
# tests/structure/tidy.sh BUILD - clang-tidy over every C file that BUILD compiles, with the checks of .clang-tidy.
set -eu
cd "$(dirname "$0")/../.."
python3 - "$1/compile_commands.json" <<'PY' | xargs -0 -P "$(nproc)" -n 4 clang-tidy-14 --quiet -p "$1"
import json, sys
names = sorted({entry["file"] for entry in json.load(open(sys.argv[1])) if entry["file"].endswith(".c")})
sys.stdout.write("\0".join(names))
PY
