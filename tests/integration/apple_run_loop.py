#!/usr/bin/env python3
"""libmire on the real CFRunLoop, that of Swift's Foundation: one report for each hang, with its length and its function.

Foundation comes from Debian 13 (deploy/foundation.sh), with the C library that it needs; where it cannot be had the test is skipped.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from sdk_run import BINARY, SOURCE, check, unpack

ROOT = pathlib.Path(SOURCE) / "build" / "apple" / "foundation"
APPLE = pathlib.Path(SOURCE) / "tests" / "apple"
APP = pathlib.Path(BINARY) / "apple" / "run_loop_app"
IDLE_S = float(os.environ.get("MIRE_IDLE_S", "5"))
SHORT_MS = 5  # a turn is no shorter than the work in it
LONG_MS = 60  # and longer by the loop's own work, or by other programs on the processor
EXPECTED = ["timer", "source", "commit", "woken", "nested", "modal", "launch_mode", "block", "second", "first_of_two",
            "second_of_two"]


def fetch():
    done = subprocess.run([os.path.join(SOURCE, "deploy", "foundation.sh"), ROOT], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == 77:
        print("skipped:", done.stdout.strip())
        sys.exit(77)
    assert done.returncode == 0, done.stdout


def build():
    """The app with the static libmire. Foundation is found when it is loaded."""
    APP.parent.mkdir(parents=True, exist_ok=True)
    swift = next(ROOT.rglob("libFoundation.so")).parent
    subprocess.run([os.environ.get("CC", "cc"), "-g", "-O1", "-fno-inline", "-fno-optimize-sibling-calls", "-D_GNU_SOURCE",
                    "-DMIRE_VERSION=\"0\"", "-I", APPLE / "stub", *(f"-I{SOURCE}/sdk/{part}" for part in ("include", "src", ".")),
                    APPLE / "run_loop_app.c", pathlib.Path(SOURCE) / "sdk/src/gate/run_loop_apple.c", "-o", APP,
                    "-L", os.path.join(BINARY, "sdk"), "-l:libmire.a", "-Wl,--allow-shlib-undefined", "-L", swift,
                    "-lFoundation", "-ldispatch", "-lBlocksRuntime", "-lcurl", "-lzstd", "-pthread", "-ldl"], check=True)
    return swift


def run(swift, *arguments):
    libraries = ":".join(map(str, [swift, ROOT / "usr/lib/x86_64-linux-gnu", ROOT / "lib/x86_64-linux-gnu",
                                   "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu"]))
    loader = next(path for path in (ROOT / "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
                                    ROOT / "lib64/ld-linux-x86-64.so.2") if path.exists())
    return subprocess.run([loader, "--library-path", libraries, APP, *map(str, arguments)], stdout=subprocess.PIPE, text=True,
                          timeout=600, check=True).stdout


def reports(store):
    found = []
    for path in sorted((pathlib.Path(store) / "out").glob("*.report")):
        report = unpack(path.read_bytes())
        check(report)
        found.append(report)
    return found


def functions():
    """The ranges of the planted functions in the program's file."""
    text = subprocess.run(["nm", "-S", APP], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {name: range(int(at, 16), int(at, 16) + int(size, 16))
            for at, size, name in re.findall(r"([0-9a-f]+) ([0-9a-f]+) t hang_(\w+)", text)}


def on_stack(report, node):
    """The offsets in the app of the frames of a stack."""
    nodes, frames = report["nodes"], report["frames"]
    row = node - 1
    while row >= 0:
        frame = nodes["frame"][row]
        image = frames["image"][frame]
        if image >= 0 and report["images"][image]["name"].endswith(APP.name):
            yield frames["offset"][frame]
        row -= nodes["up"][row]


class RunLoop(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.swift = build()
        cls.places = functions()

    def kind_of(self, report):
        """The planted function that most samples have on their stack."""
        counts = {}
        for node in report["event"]["samples"]["node"]:
            offsets = list(on_stack(report, node))
            for kind, place in self.places.items():
                if any(offset in place for offset in offsets):
                    counts[kind] = counts.get(kind, 0) + 1
        return max(counts, key=counts.get) if counts else None

    def test_each_hang_is_one_report(self):
        with tempfile.TemporaryDirectory(prefix="mire-run-loop-") as store:
            told = {kind: (int(begin), int(end)) for kind, begin, end in
                    (line.split() for line in run(self.swift, store, "hangs").splitlines())}
            self.assertEqual(sorted(told), sorted(EXPECTED))
            seen = {}
            for report in reports(store):
                seen.setdefault(self.kind_of(report), []).append(report["event"])
            self.assertEqual(sorted(map(str, seen)), sorted(EXPECTED))
            for kind, events in seen.items():
                with self.subTest(kind=kind):
                    event, = events
                    begin_ns, end_ns = told[kind]
                    # Time in which other programs had the processor is told apart from the hang.
                    over_ms = event["duration_ms"] + event.get("late_ms", 0) - (end_ns - begin_ns) / 1e6
                    early_ms = (begin_ns - event["begin_ns"]) / 1e6
                    self.assertTrue(-SHORT_MS <= over_ms <= LONG_MS, (over_ms, event["duration_ms"]))
                    self.assertTrue(-SHORT_MS <= early_ms <= LONG_MS, early_ms)
                    print(f"{kind}: {over_ms:+.1f} ms, begin {early_ms:+.1f} ms")

    def test_a_loop_that_ticks_is_no_hang(self):
        with tempfile.TemporaryDirectory(prefix="mire-run-loop-") as store:
            used_ms = float(run(self.swift, store, "idle", IDLE_S).split()[1])
            self.assertEqual(reports(store), [])
            print(f"{IDLE_S:g} s: {used_ms} ms of CPU time on libmire's threads")
            self.assertLess(used_ms, 5 * IDLE_S)

    def test_a_loop_that_waits_wakes_nothing(self):
        with tempfile.TemporaryDirectory(prefix="mire-run-loop-") as store:
            self.assertEqual(run(self.swift, store, "rest", IDLE_S), "switches 0\n")
            self.assertEqual(reports(store), [])


if __name__ == "__main__":
    fetch()
    unittest.main()
