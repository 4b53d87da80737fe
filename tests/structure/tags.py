#!/usr/bin/python3
"""tests/structure/tags.py - no struct, union or enum tag is defined in more than one file of one side, SDK or server.

A reader who meets `struct batch` in two files of one side has to find out that they are two things.
"""

import collections
import os
import pathlib
import re
import sys

SKIP = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")


def doubled(side):
    """The tags that several files define, and those files."""
    found = collections.defaultdict(set)
    for path in pathlib.Path(side).rglob("*"):
        if path.suffix in (".c", ".h", ".cc"):
            for tag in TAG.findall(SKIP.sub(" ", path.read_text(errors="replace"))):
                found[tag].add(str(path))
    return {tag: sorted(files) for tag, files in found.items() if len(files) > 1}


def main():
    os.chdir(os.environ.get("MIRE_SOURCE_DIR") or pathlib.Path(__file__).parents[2])
    found = {(side, tag): files for side in ("sdk", "server") for tag, files in doubled(side).items()}
    for (side, tag), files in sorted(found.items()):
        print(f"{side}: {tag} is defined in {', '.join(files)}: rename all but one")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
