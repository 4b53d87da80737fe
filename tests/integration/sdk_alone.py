#!/usr/bin/env python3
"""A program with one thread under mire-run: its C library takes no locks, as if nobody watched, and nothing of ours relies
on them."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("MIRE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = pathlib.Path(os.environ.get("MIRE_BINARY_DIR", SOURCE / "build/release"))
PROGRAM = BINARY / "tests/integration/alone"
GUARD = BINARY / "tests/integration/libguard.so"
SETTINGS = "footprint_kib=1024 baseline_ms=1000 snapshot_ms=300 suppress_ms=0 cpu_percent=10 cpu_window_ms=1000"


def run(store, *words, status=0, **env):
    done = subprocess.run([BINARY / "sdk/mire-run", "--app", "alone", "--app-version", "1", "--threshold", "500",
                           "--store", store, "--", PROGRAM, *words], text=True, timeout=300, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=os.environ | {"MIRE_MEMORY": "exact", "MIRE_SETTINGS": SETTINGS} | env)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


def kinds(store):
    reports = sorted((store / "out").glob("*.report"))
    text = b"".join(subprocess.run(["zstd", "-dcq"], input=path.read_bytes(), stdout=subprocess.PIPE, check=True,
                                   timeout=300).stdout for path in reports)
    return re.findall(rb'"(?:kind|trigger)":"([a-z_]+)"', text)


def it_stays_alone(store):
    said, _ = run(store, "work", "end")
    assert said == "begin: alone\nwork: alone\nend: alone\n", said
    said, _ = run(store, "work", MIRE_SECOND_LIBC="0")
    assert said == "begin: not alone\nwork: not alone\n", said


def our_threads_leave_its_c_library_alone(store):
    """While they do all that they ever do: hangs sealed, memory noted, looked at and reported."""
    said, _ = run(store, "work", LD_PRELOAD=str(GUARD))
    assert said == "begin: alone\nwork: alone\n", said
    found = kinds(store)
    assert {b"event", b"memory", b"footprint"} <= set(found) and found.count(b"event") >= 2, found
    _, complaint = run(store, "work", status=99, LD_PRELOAD=str(GUARD), MIRE_SECOND_LIBC="0")
    assert "guard: " in complaint, complaint


def they_change_their_user_with_it(store):
    if os.geteuid() != 0:
        print("skipped: only root may change its user")
        return
    os.chmod(store.parent, 0o755)
    said, _ = run(store, "user")
    assert said.startswith("begin: alone\nsetresuid: 0\n"), said
    users = re.findall(r"Name:\s*(\S+) Uid:\s*(.*)", said)
    assert {name for name, _ in users} >= {"alone", "mire-check", "mire-worker"}, said
    assert {tuple(ids.split()) for _, ids in users} == {("1234",) * 4}, said


def a_program_keeps_capabilities_when_it_changes_its_user(store):
    if os.geteuid() != 0:
        print("skipped: only root may change its user")
        return
    for second in "1", "0":
        done = subprocess.run([BINARY / "sdk/mire-run", "--app", "user", "--store", store, "--", "setpriv", "--reuid", "1234",
                               "--regid", "1234", "--clear-groups", "sh", "-c", "id -u; id -g; id -G"], text=True, timeout=300,
                              stdout=subprocess.PIPE, env=os.environ | {"MIRE_SECOND_LIBC": second})
        assert done.returncode == 0 and done.stdout == "1234\n1234\n1234\n", done


def a_library_that_comes_late_has_its_classes(store):
    said, _ = run(store, "load")
    if "library: 0" in said:
        print("skipped: libgio is not installed")
        return
    assert said.endswith("library: 1\nload: not alone\n"), said
    tables, = (store / "memory").glob("*.heap")
    text = subprocess.run([BINARY / "server/mire", "memory", "--top", "100", "--stacks", "0", tables], text=True, stdout=subprocess.PIPE, check=True,
                          timeout=300).stdout
    assert re.search(r"^ +\S+ \w+ +[5-7]\d\d .*  GCancellable$", text, re.M), text


def main():
    libc = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in os.confstr_names else ""
    version = re.match(r"glibc (\d+)\.(\d+)", libc or "")
    if not version or (int(version[1]), int(version[2])) < (2, 34):
        print("skipped: this C library has no second copy:", libc)
        return 77
    for case in (it_stays_alone, our_threads_leave_its_c_library_alone, they_change_their_user_with_it,
                 a_program_keeps_capabilities_when_it_changes_its_user, a_library_that_comes_late_has_its_classes):
        with tempfile.TemporaryDirectory() as folder:
            case(pathlib.Path(folder) / "store")
        print("ok     ", case.__name__.replace("_", " "))
    return 0


sys.exit(main())
