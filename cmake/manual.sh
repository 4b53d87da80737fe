#!/bin/sh
# cmake/manual.sh MIRE MIRED DIR - writes the manual pages of both programs and the shells' completions of mire into DIR.
set -eu
mire=$1 mired=$2 out=$3
rm -rf "$out"
mkdir -p "$out"
"$mire" man --all "$out"
{
  printf '.TH "mired" "8" "" "%s"\n.SH NAME\nmired \\- take reports in, work on them, serve the dashboard\n' "$("$mired" --version | sed 's/^mired/Mire/')"
  printf '.SH DESCRIPTION\n.nf\n'
  "$mired" --help | sed 's/\\/\\e/g; s/-/\\-/g; s/^\([.'\'']\)/\\\&\1/'
  printf '.fi\n.SH FILES\n/etc/mire/mired.conf\n.SH SEE ALSO\n\\fBmire\\fR(1)\n'
} > "$out/mired.8"
