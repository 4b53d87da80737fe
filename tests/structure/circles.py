#!/usr/bin/python3
"""tests/structure/circles.py - files that include each other in a circle are at most CIRCLES, each of at most LARGEST.

A room is a source file with its header. Most circles are a door header whose types a private header of the same folder
takes, while the door's source calls what the private header declares: one thought in two files. A new circle is a sign
that a declaration is in the wrong header. A circle that is cut lowers CIRCLES. Arguments replace the two limits.
"""

import os
import pathlib
import re
import sys

CIRCLES, LARGEST = 40, 6  # how many circles there may be, and of how many rooms

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
ROOTS = {"sdk": ("sdk/src", "sdk"), "server": ("server/src", "server/symbolizer", "server", "sdk")}


def arrows():
    """Of each room the rooms whose headers it includes."""
    found = {}
    for side, roots in ROOTS.items():
        for path in sorted(pathlib.Path(side).rglob("*.[ch]")):
            if "include" in path.parts:
                continue
            room = found.setdefault(str(path.with_suffix("")), set())
            for name in INCLUDE.findall(path.read_text(errors="replace")):
                header = next((pathlib.Path(root, name) for root in roots if pathlib.Path(root, name).exists()), None)
                if header and header.with_suffix("") != path.with_suffix(""):
                    room.add(str(header.with_suffix("")))
    return found


def reachable(found, start):
    """The rooms that `start` leads to; itself only by a circle."""
    seen, todo = set(), list(found.get(start, ()))
    while todo:
        room = todo.pop()
        if room not in seen:
            seen.add(room)
            todo.extend(found.get(room, ()))
    return seen


def circles(found):
    """Sets of rooms of which each leads to each."""
    leads = {room: reachable(found, room) for room in found}
    return sorted({tuple(sorted(r for r in leads[room] if room in leads[r])) for room in found if room in leads[room]})


def main():
    os.chdir(os.environ.get("MIRE_SOURCE_DIR") or pathlib.Path(__file__).parents[2])
    limits = [int(word) for word in sys.argv[1:]] or [CIRCLES, LARGEST]
    found = circles(arrows())
    large = [circle for circle in found if len(circle) > limits[1]]
    for circle in large:
        print(f"{len(circle)} files include each other in a circle, {limits[1]} may: {', '.join(circle)}")
    if len(found) > limits[0]:
        print(f"{len(found)} circles of files, {limits[0]} may be:")
        for circle in found:
            print(f"  {', '.join(circle)}")
    return bool(large) or len(found) > limits[0]


if __name__ == "__main__":
    sys.exit(main())
