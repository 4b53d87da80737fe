#!/usr/bin/env python3
"""A guest in a program leaves its house as it is: descriptors, their numbers, locks."""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("MIRE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = pathlib.Path(os.environ.get("MIRE_BINARY_DIR", SOURCE / "build/release"))
PROGRAMS = BINARY / "tests/integration"
RUN = BINARY / "sdk/mire-run"
SETTINGS = "footprint_kib=1024 baseline_ms=1000 snapshot_ms=300 anneal_ms=0"


def command(scratch, *program, options=()):
    return [RUN, "--app", "guest", "--app-version", "1", "--threshold", "500", "--period", "10", "--store", scratch / "store",
            *options, "--", *program]


def run(scratch, *program, options=(), env=None):
    """A program under mire-run. Returns what ended it, and its two texts."""
    done = subprocess.run(command(scratch, *program, options=options), text=True, timeout=120, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=os.environ | {"MIRE_SETTINGS": SETTINGS} | (env or {}))
    return done.returncode, done.stdout, done.stderr


def holds(scratch, *program, **more):
    """The program finds everything as it has to be."""
    status, said, complaint = run(scratch, *program, **more)
    faults = scratch / "faults"
    assert status == 0, (program, status, said, complaint, faults.read_text() if faults.exists() else "")
    return said


# ---- descriptors ----

DESCRIPTORS = PROGRAMS / "descriptors"


def a_daemon_gets_the_lowest_numbers(scratch):
    def start(i):
        holds(scratch, DESCRIPTORS, "lowest", str(i % 60 * 40), env={"DESCRIPTORS_FAULTS": str(scratch / "faults")})

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(start, range(300)))


def numbers_are_the_programs_while_hangs_are_sealed_and_memory_is_noted(scratch):
    holds(scratch, DESCRIPTORS, "steady", "1500")
    reports = list((scratch / "store/out").glob("*.report"))
    assert len(reports) >= 2, reports
    holds(scratch, DESCRIPTORS, "steady", "300", env={"MIRE_SECOND_LIBC": "0", "MIRE_MEMORY": "exact"})


def numbers_are_the_programs_where_a_child_starts_beside_its_threads(scratch):
    holds(scratch, DESCRIPTORS, "fork", "700")
    for _ in range(20):
        holds(scratch, DESCRIPTORS, "fork", "1")


def whoever_closes_all_numbers_closes_none_of_ours(scratch):
    holds(scratch, DESCRIPTORS, "close", "1500")
    assert list((scratch / "store/out").glob("*.report"))


def a_pipe_is_at_its_end_when_the_program_closes_it(scratch):
    holds(scratch, DESCRIPTORS, "eof", "40")


def record_locks_outlive_a_start(scratch):
    holds(scratch, DESCRIPTORS, "locks")


def the_list_of_descriptors_is_the_programs(scratch):
    words = ["sh", "-c", "exec 7</dev/null; ls -1 /proc/$$/fd"]
    plain = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=60).stdout
    assert holds(scratch, *words) == plain


TESTS = [value for name, value in list(globals().items()) if name.startswith((
    "a_daemon", "numbers_", "whoever_", "a_pipe", "record_", "the_list"))]


def main():
    for test in TESTS:
        with tempfile.TemporaryDirectory(prefix="mire-guest-") as scratch:
            test(pathlib.Path(scratch))
        print("ok", test.__name__, flush=True)


if __name__ == "__main__":
    sys.exit(main())
