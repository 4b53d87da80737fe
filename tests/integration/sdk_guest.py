#!/usr/bin/env python3
"""A guest in a program leaves its house as it is: descriptors, their numbers, locks, what it confines itself to, and how much
of everything there is."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("MIRE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = pathlib.Path(os.environ.get("MIRE_BINARY_DIR", SOURCE / "build/release"))
PROGRAMS = BINARY / "tests/integration"
RUN = BINARY / "sdk/mire-run"
SETTINGS = "footprint_kib=1024 baseline_ms=1000 snapshot_ms=300 suppress_ms=0"


def command(scratch, *program, options=()):
    return [RUN, "--app", "guest", "--app-version", "1", "--threshold", "500", "--period", "10", "--store", scratch / "store",
            *options, "--", *program]


def run(scratch, *program, options=(), env=None):
    """A program under mire-run. Returns what ended it, and its two texts."""
    done = subprocess.run(command(scratch, *program, options=options), text=True, timeout=300, stdin=subprocess.DEVNULL,
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
    plain = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=300).stdout
    assert holds(scratch, *words) == plain
    assert holds(scratch, *words, options=("--server", "http://localhost:9", "--key", "mk_nobody")) == plain


# ---- a program that confines itself ----

CONFINED = PROGRAMS / "confined"
QUIET = "has confined itself with seccomp"
STOPPED = "has confined all of its threads with seccomp"


def hangs(scratch):
    """How long, and how many stacks of how many samples."""
    found = []
    for path in sorted((scratch / "store/out").glob("*.report")):
        text = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True, timeout=300).stdout
        report = json.loads(text)
        if "event" in report:
            samples = report["event"]["samples"]["node"]
            found.append((report["event"]["duration_ms"], sum(node > 0 for node in samples), len(samples)))
    return found


def confines(words):
    """A program ends as it does without us, and as many of its hangs are told as there can be."""
    scope, action, rules, word, least = words
    with tempfile.TemporaryDirectory(prefix="mire-guest-") as folder:
        scratch = pathlib.Path(folder)
        status, said, complaint = run(scratch, CONFINED, scope, action, rules)
        assert (status, said) == (5, "done\n"), (words, status, said, complaint)
        # No descriptor, or a filter that nobody saw come: no report, and that is said.
        told = complaint and not (scope in ("limits", "hidden") and "could not be kept" in complaint)
        assert word in complaint if word else not told, (words, complaint)
        found = hangs(scratch)
        assert len(found) >= least, (words, found)
        if rules == "small" and scope in ("main", "seccomp"):
            assert all(stacks > samples / 2 for _, stacks, samples in found), (words, found)


def a_program_that_confines_itself_goes_on_as_it_would(scratch):
    cases = [("main", "kill", "small", QUIET, 3), ("seccomp", "kill", "small", QUIET, 3), ("main", "errno", "small", QUIET, 3),
             ("main", "trap", "small", QUIET, 3), ("thread", "kill", "small", QUIET, 3), ("strict", "kill", "small", QUIET, 1),
             ("tsync", "kill", "small", STOPPED, 1), ("tsync", "errno", "small", STOPPED, 1),
             ("tsync", "thread", "small", STOPPED, 1), ("twice", "kill", "small", QUIET, 1),
             ("twice", "errno", "small", QUIET, 1), ("before", "kill", "small", QUIET, 1),
             ("main", "kill", "deny", "", 4), ("tsync", "kill", "deny", "", 4), ("tsync", "errno", "deny", "", 4),
             ("hidden", "errno", "small", "", 0), ("probe", "kill", "small", "", 3), ("limits", "kill", "small", "", 0)]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(confines, cases))


# ---- little of everything ----

def mire_run_needs_no_more_than_the_program(scratch):
    for limit in ("--nofile=4", "--stack=131072"):
        done = subprocess.run(["prlimit", limit, *command(scratch, "sh", "-c", "exit 9")], timeout=300, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert (done.returncode, done.stdout) == (9, ""), (limit, done)
        assert run(scratch, "prlimit", limit, "sh", "-c", "exit 9")[0] == 9, limit


def where_no_thread_is_to_be_had_the_program_runs_without_us(scratch):
    if os.geteuid() != 0:
        print("skipped: only root may become a user who has no other process")
        return
    os.chmod(scratch, 0o777)
    for count, word in ((1, "runs without being watched"), (2, "is not watched"), (3, "is not watched")):
        as_user = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", "prlimit", f"--nproc={count}"]
        done = subprocess.run([*as_user, *command(scratch, CONFINED, "none", "kill", "small")], timeout=300, text=True, cwd="/",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert (done.returncode, done.stdout) == (5, "done\n"), (count, done)
        assert word in done.stderr, (count, done.stderr)


def a_library_finds_as_much_static_storage_as_without_us(scratch):
    """Of a thread's storage that is laid out when the program starts the loader keeps some to spare."""
    source = "__thread char room[%d] __attribute__((tls_model(\"initial-exec\"))); char *get(void) { return room; }\n"
    cc = os.environ.get("CC", "cc")
    loads = "import ctypes, select, sys\nselect.poll().poll(20)\nctypes.CDLL(sys.argv[1])\nprint('loaded')"
    for size in (1200, 1500, 1600, 1664, 1700):
        path = scratch / f"room{size}.so"
        subprocess.run([cc, "-shared", "-fPIC", "-xc", "-", "-o", path], input=source % size, text=True, check=True, timeout=300)
        plain = subprocess.run([sys.executable, "-c", loads, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        if plain.returncode == 0:
            status, said, complaint = run(scratch, sys.executable, "-c", loads, path)
            assert (status, said) == (0, "loaded\n"), (size, complaint)


TESTS = [value for name, value in list(globals().items()) if name.startswith((
    "a_", "numbers_", "whoever_", "record_", "the_list", "mire_run_", "where_"))]


def main():
    for test in TESTS:
        if sys.argv[1:] and test.__name__ not in sys.argv:
            continue
        with tempfile.TemporaryDirectory(prefix="mire-guest-") as scratch:
            test(pathlib.Path(scratch))
        print("ok", test.__name__, flush=True)


if __name__ == "__main__":
    sys.exit(main())
