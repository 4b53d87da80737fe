#!/bin/sh
# tests/fuzz/run.sh TARGET FOUND CORPUS... - run one libFuzzer target for $SECS seconds.
# What it finds goes to FOUND (the new inputs) and beside it (crash-*), never into the checked-in CORPUS.
set -eu
target=$1 found=$2
shift 2
mkdir -p "$found"
cd "$found/.."
exec "$target" -max_total_time="${SECS:-60}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
  -artifact_prefix="$(basename "$found")-" "$found" "$@"
