#!/usr/bin/env python3
"""Programs that take, block, ignore and wait for signals, under mire-run: their hangs have stacks, and they see no signal
that they would not see without it."""
import glob
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from sdk_run import BINARY, SOURCE, check, unpack

sys.path.insert(0, os.path.join(SOURCE, "tests/support"))
from starved import unless_starved

APP = os.path.join(BINARY, "tests", "integration", "signals_app")
SETTINGS = "sample_from_ppm=100000 period_ms=10 budget_ppm=1000000 budget_peak_ppm=1000000"
UNDISTURBED = "taken 0 handled 0 read 0 pending 0 cut 0\n"


def symbols():
    """Functions of the program: (begin, end, name)."""
    lines = subprocess.run(["nm", "-S", APP], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return [(int(row[0], 16), int(row[0], 16) + int(row[1], 16), row[3]) for row in map(str.split, lines)
            if len(row) == 4 and row[2] in "tT"]


SYMBOLS = symbols()


def functions(report, node):
    """Names of the program's functions on the way from a node to the root."""
    names = set()
    while node:
        frame = report["nodes"]["frame"][node - 1]
        image, offset = report["frames"]["image"][frame], report["frames"]["offset"][frame]
        if image >= 0 and report["images"][image]["name"] == APP:
            names |= {name for begin, end, name in SYMBOLS if begin <= offset < end}
        node -= report["nodes"]["up"][node - 1]
    return names


@unless_starved
class SignalsTest(unittest.TestCase):
    def hangs(self, how, *wrapper):
        """Runs the program. Its reports of hangs, in the order of time, and what it said."""
        with tempfile.TemporaryDirectory(prefix="mire-signals-") as store:
            done = subprocess.run([os.path.join(BINARY, "sdk", "mire-run"), "--app", "signals", "--threshold", "300",
                                   "--store", store, "--", *wrapper, APP, how], text=True, timeout=300, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, env=os.environ | {"MIRE_SETTINGS": SETTINGS})
            self.assertEqual(done.returncode, 134 if how == "small" else 0, done.stdout)
            reports = [unpack(pathlib.Path(path).read_bytes())
                       for path in glob.glob(os.path.join(store, "out", "*.report"))]
        for report in reports:
            check(report)
        reports = [report for report in reports if report["kind"] == "event" and report["event"]["trigger"] == "busy"]
        return sorted(reports, key=lambda report: report["event"]["begin_ns"]), done.stdout

    def all_seen(self, how, said=UNDISTURBED):
        reports, output = self.hangs(how)
        self.assertEqual(output, said)
        self.assertEqual(len(reports), 3)
        for number, report in enumerate(reports, 1):
            samples = report["event"]["samples"]
            found = [functions(report, node) for node in samples["node"]]
            right = sum(f"tick{number}" in names for names in found)
            self.assertGreaterEqual(right * 10, len(found) * 9, (how, number, found))

    def test_sigurg_has_a_handler(self):
        self.all_seen("handler")

    def test_sigurg_gets_a_handler_between_two_hangs(self):
        self.all_seen("late")

    def test_sigurg_is_blocked(self):
        self.all_seen("blocked")

    def test_sigurg_is_read_from_a_descriptor(self):
        self.all_seen("descriptor")

    def test_sigurg_is_ignored(self):
        self.all_seen("ignored")

    def test_sigurg_is_put_back(self):
        self.all_seen("restored")

    def test_every_signal_is_waited_for_by_a_thread(self):
        self.all_seen("every")

    def test_the_alternate_stack_is_too_small_for_the_kernels_frame(self):
        """Neither the sampler's signal nor the crash marker's ends the process: it ends as it would without them."""
        self.all_seen("small", "aborts\n")

    def test_the_program_is_traced_by_its_parent(self):
        """As programs are that want no debugger: each signal stops them until the parent continues them, as mire-run does."""
        self.all_seen("traced")

    def test_the_program_is_traced_by_a_parent_that_does_not_know(self):
        reports, output = self.hangs("traced", "sh", "-c", '"$0" "$@"; exit')
        self.assertEqual(output, UNDISTURBED)
        self.assertEqual(len(reports), 3)

    def test_threads_are_cancelled_before_and_after(self):
        self.all_seen("cancel")

    def test_no_signal_can_be_sent(self):
        """Every signal is blocked by the kernel's own call: three hangs without stacks are three hangs."""
        reports, output = self.hangs("kernel")
        self.assertEqual(output, UNDISTURBED)
        self.assertEqual(len(reports), 3)
        for report in reports:
            samples = report["event"]["samples"]
            running = [loss for loss, node in zip(samples["loss"], samples["node"]) if node == 0]
            self.assertEqual(set(running), {"b"})


if __name__ == "__main__":
    unittest.main()
