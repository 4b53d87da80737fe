#!/bin/sh
# tests/structure/tidy.sh BUILD - clang-tidy over every C file that BUILD compiles, with the checks of .clang-tidy. What only
# gcc understands is taken out of the commands.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p "$1/tidy"
python3 - "$1" <<'PY' | xargs -0 -P "$(nproc)" -n 4 clang-tidy-14 --quiet -p "$1/tidy"
import json, sys
GCC_ONLY = {"-fno-ipa-icf"}
entries = json.load(open(sys.argv[1] + "/compile_commands.json"))
for entry in entries:
    entry["command"] = " ".join(word for word in entry["command"].split(" ") if word not in GCC_ONLY)
with open(sys.argv[1] + "/tidy/compile_commands.json", "w") as file:
    json.dump(entries, file)
sys.stdout.write("\0".join(sorted({entry["file"] for entry in entries if entry["file"].endswith(".c")})))
PY
