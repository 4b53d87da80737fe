#!/bin/sh
# tests/support/promtool.sh - prints the path of promtool: the installed one, or that of Debian's package in build/promtool,
# fetched once and not installed. Status 77: it cannot be had.
set -eu
command -v promtool && exit 0
cd "$(dirname "$0")/../.."
into=$PWD/build/promtool
[ -x "$into/usr/bin/promtool" ] || {
  rm -rf "$into"
  mkdir -p "$into"
  (cd "$into" && apt-get download prometheus) > /dev/null 2>&1 || exit 77
  dpkg -x "$into"/prometheus_*.deb "$into"
  rm -f "$into"/prometheus_*.deb
}
echo "$into/usr/bin/promtool"
