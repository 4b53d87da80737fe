#!/bin/sh
# tests/structure/links.sh - every path of this tree that a text names exists.
#
# Looked at: relative links and `paths/in/backticks` of every Markdown file, and docs/*.md named anywhere in the code.
# A path with a placeholder (< * { $ NNNN) is not a path.
set -eu
cd "${MIRE_SOURCE_DIR:-$(dirname "$0")/../..}"
faults=$(mktemp)
trap 'rm -f "$faults"' EXIT

miss() { echo "$1: names $2, which does not exist" >> "$faults"; }

for file in $(find . -name '*.md' ! -path '*/node_modules/*' ! -path './build/*' ! -path '*/.git/*'); do
  folder=$(dirname "$file")
  grep -oE '\]\([^)]+\)' "$file" | sed -E 's/^\]\(//; s/\)$//; s/#.*//; s/ .*//' | grep -vE '^([a-z]+:|$)' | while read -r path; do
    [ -e "$folder/$path" ] || miss "$file" "$path"
  done || true
  grep -oE '`[A-Za-z0-9_.-]+/[A-Za-z0-9_./-]*`' "$file" | tr -d '`' | grep -vE 'NNNN|^web/dist|^build/' | while read -r path; do
    case ${path%%/*} in
    sdk | server | schema | web | deploy | tests | docs | cmake | .ci) [ -e "$path" ] || [ -e "$folder/$path" ] || miss "$file" "$path" ;;
    esac
  done || true
done
grep -rnoE 'docs/[A-Za-z0-9_/-]+\.md' sdk server schema tests web/src deploy cmake Makefile 2>/dev/null | grep -vE 'NNNN|^tests/structure/selftest' |
  while IFS=: read -r file line path; do
    [ -e "$path" ] || miss "$file:$line" "$path"
  done || true
sort -u "$faults"
[ ! -s "$faults" ]
