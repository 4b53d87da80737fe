#!/bin/sh
# tests/structure/layers.sh - every #include of sdk/ and server/ is one that layers.txt allows, and layers.txt allows no circle.
#
# Also: a folder with a door is included by that header alone; a path shows its folder ("ring/ring.h", never "ring.h" or "../ring/ring.h"), and a file begins with a header of its own folder.
set -eu
cd "${MIRE_SOURCE_DIR:-$(dirname "$0")/../..}"
find sdk server -name '*.[ch]' ! -path '*/include/*' | sort | xargs awk '
  function fault(text) { print FILENAME ":" FNR ": " text; faults++ }

  # sdk/src/ring/x.c -> "sdk ring"; sdk/wire/x.c -> "sdk wire"; server/src/main_mired.c -> "server main";
  # server/symbolizer/dwarf/x.c -> "server dwarf"; server/symbolizer/x.c -> "server symbolizer"
  function folder_of(path,   part, n) {
    n = split(path, part, "/")
    if (part[2] == "symbolizer" && n > 3) return part[1] " " part[3]
    if (part[2] != "src") return part[1] " " part[2]
    return n == 3 ? part[1] " main" : part[1] " " part[3]
  }
  function exists(path,   line, found) {
    found = (getline line < path) >= 0
    close(path)
    return found
  }

  FNR == 1 && FILENAME != "tests/structure/layers.txt" {
    here = folder_of(FILENAME)
    split(here, word, " "); side = word[1]; folder = word[2]
    if (!(here in may)) fault("folder \"" here "\" is not in layers.txt")
    own = ""
    if (FILENAME ~ /\.c$/) {
      header = FILENAME; sub(/\.c$/, ".h", header)
      own = exists(header) ? header : ""
      sub(/^(sdk|server)\/(src\/)?/, "", own)
      if (own ~ /^symbolizer\/.*\//) sub(/^symbolizer\//, "", own)
    }
    seen_include = 0
  }

  FILENAME == "tests/structure/layers.txt" {
    if (/^#/ || NF == 0) next
    if ($1 == "door") { door[$3] = $5; next }
    if ($1 == "only") { for (i = 4; i <= NF; i++) only[$2, $3 " " $i] = 1; guarded[$2] = 1; next }
    may[$1 " " $2] = 1
    for (i = 4; i <= NF; i++) {
      allowed[$1 " " $2, $i] = 1
      if ($i == "*") above[$1 " " $2] = 1
      else uses[$1 " " $2] = uses[$1 " " $2] " " $i
    }
    next
  }

  /^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    match($0, /[<"][^>"]*[>"]/)
    token = substr($0, RSTART, RLENGTH); path = substr(token, 2, length(token) - 2)
    if (token ~ /^</) {
      if (token in guarded && !((token, here) in only)) fault(token " does not belong in " here)
      if (path ~ /^mire\// && side != "sdk") fault("the server includes nothing of the SDK but wire/")
    } else if (path ~ /\.\.\//) fault("\"" path "\" climbs; name the folder")
    else if (path !~ /\//) fault("\"" path "\" does not show its folder")
    else {
      split(path, part, "/"); into = part[1]
      if (into != folder && into != "mire" && !((here, into) in allowed) && !((here, "*") in allowed))
        fault(here " may not include " into " (" path ")")
      if (into != folder && into in door && path != door[into])
        fault("\"" path "\" is private to its folder: include \"" door[into] "\"")
    }
    if (!seen_include++ && own != "" && index(path, folder "/") != 1)
      fault("includes \"" path "\" before its own header \"" own "\"")
  }

  # Folders whose folders are all laid are laid, until none is left; the rest includes itself in a circle.
  function look_for_circles(   here, word, n, part, i, moved, rest) {
    for (here in may) if (!(here in above)) left[here] = 1
    do {
      moved = 0
      for (here in left) {
        split(here, part, " ")
        n = split(uses[here], word, " ")
        for (i = 1; i <= n && !(word[i] != part[2] && (part[1] " " word[i]) in left); i++);
        if (i > n) { delete left[here]; moved = 1 }
      }
    } while (moved)
    for (here in left) rest = rest " " here ","
    if (rest != "") { print "tests/structure/layers.txt: these folders include each other in a circle:" substr(rest, 1, length(rest) - 1); faults++ }
  }

  END { look_for_circles(); exit faults > 0 }
' tests/structure/layers.txt
