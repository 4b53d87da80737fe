#!/usr/bin/env python3
"""integration/heap-stacks - the stack that was noted for a block is gdb's at that allocation.

tests/support/heap_places allocates from code with and without frame pointers, through the linkage table, from a function
that was jumped to, from a signal handler on the thread's stack and on another, and on a stack of its own making; each
three times, because the second stack is found in what was remembered of the first. gdb (tests/support/gdb_heap.py) stops
at each allocation; what the killed program left in its tables is read by tests/support/heap_stacks.

Skipped where there is no gdb, or no permission to trace.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT, BUILD = os.environ["MIRE_SOURCE_DIR"], os.environ["MIRE_BINARY_DIR"]
TESTS = BUILD + "/tests/integration"
SKIP = 77
LEAST_STACKS = 24


def ask_gdb(scratch):
    environment = dict(os.environ, MIRE_PROGRAM=TESTS + "/heap_places", MIRE_PRELOAD=BUILD + "/sdk/libmire-preload.so",
                       MIRE_STORE=scratch)
    return subprocess.run(["gdb", "-nx", "-q", "-batch", "-x", ROOT + "/tests/support/gdb_heap.py"], env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300).stdout


def ask_tables(scratch):
    stacks = {}
    for path in pathlib.Path(scratch).glob("box/*.heap"):
        said = subprocess.run([TESTS + "/heap_stacks", path, "1000003", "1000999"], capture_output=True, text=True, check=True,
                              timeout=300).stdout
        os.unlink(os.path.realpath(path))
        for line in said.splitlines():
            size, *frames = line.split()
            stacks[int(size)] = [int(frame, 16) for frame in frames]
    return stacks


def places(words):
    return [int(word.rstrip("*"), 16) - (0 if word.endswith("*") else 1) for word in words]


def main():
    if not shutil.which("gdb"):
        print("no gdb")
        return SKIP
    with tempfile.TemporaryDirectory(prefix="mire-heap-stacks-") as scratch:
        said = ask_gdb(scratch)
        noted = ask_tables(scratch)
    if "Operation not permitted" in said:
        print("gdb may not trace here")
        return SKIP
    theirs = {int(line.split()[1]): places(line.split()[2:]) for line in said.splitlines() if line.startswith("size ")}
    live = {size: frames for size, frames in theirs.items() if size in noted}
    wrong = {size for size in live if live[size] != noted[size]}
    for size in sorted(wrong):
        print(size, "gdb ", *("%x" % frame for frame in live[size]))
        print(size, "mire", *("%x" % frame for frame in noted[size]))
    print(f"{len(live) - len(wrong)} of {len(live)} stacks are gdb's, of {len(theirs)} allocations")
    if len(live) < LEAST_STACKS or set(noted) - set(theirs):
        print(said[-3000:])
        return 1
    return 1 if wrong else 0


sys.exit(main())
