#!/usr/bin/env python3
"""A disk that takes seconds for each report: hangs meanwhile are seen, with their stacks, and none is lost by any end of the program."""
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["MIRE_SOURCE_DIR"], "tests/support"))
from starved import unless_starved

PROGRAM = os.path.join(os.environ["MIRE_BINARY_DIR"], "tests/integration/slow_disk")
NEAR_MS = 3
SYNC_MS = 1800  # the second hang and the third
SESSIONS = '\n{"mire_rollout":1,"version":1,"plugins":{"session":{"ppm":1000000}}}'


def unpack(path):
    return json.loads(subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout)


@unless_starved
class SlowDiskTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="mire-slow-")
        self.store = os.path.join(self.scratch.name, "store")
        os.makedirs(self.store, mode=0o700)
        with open(os.path.join(self.store, "rollout"), "w", encoding="utf-8") as file:
            file.write(SESSIONS)

    def tearDown(self):
        self.scratch.cleanup()

    def play(self, hangs, way, sync_ms=SYNC_MS):
        """Returns the status and the hangs, each (begin, end)."""
        done = subprocess.run([PROGRAM, self.store, str(sync_ms), str(hangs), way], stdout=subprocess.PIPE, text=True, timeout=250)
        return done.returncode, [tuple(map(int, line.split())) for line in done.stdout.splitlines()]

    def papers(self):
        return [unpack(path) for path in sorted(glob.glob(self.store + "/out/*.report"))]

    def assert_told(self, hangs):
        reports = [paper["event"] for paper in self.papers() if paper["kind"] == "event"]
        self.assertEqual(len(reports), len(hangs), "one report for each hang")
        for begin, end in hangs:
            report = min(reports, key=lambda report: abs(report["begin_ns"] - begin))
            self.assertLess(abs(report["duration_ms"] - (end - begin) / 1e6), NEAR_MS + report.get("late_ms", 0))
            self.assertGreater(len(report["samples"]["node"]), 3, "with its stacks")

    def assert_sessions(self, hangs):
        records = [paper["session"] for paper in self.papers() if paper["kind"] == "session"]
        self.assertEqual(sum(row["count"] for record in records for row in record["hangs"].values()), hangs)

    def test_hangs_are_seen_while_a_report_is_written(self):
        status, hangs = self.play(3, "stop")
        self.assertEqual((status, len(hangs)), (0, 3))
        self.assert_told(hangs)
        self.assert_sessions(3)

    def test_more_events_than_may_wait(self):
        """The check thread then waits for the disk itself. It may miss the next hang, and counts none that it does not tell."""
        status, hangs = self.play(6, "stop", 2600)
        self.assertEqual((status, len(hangs)), (0, 6))
        reports = [paper for paper in self.papers() if paper["kind"] == "event"]
        self.assertGreaterEqual(len(reports), 4)
        self.assert_sessions(len(reports))

    def test_a_kill_while_events_wait_loses_none(self):
        status, hangs = self.play(3, "kill")
        self.assertEqual((status, len(hangs)), (-signal.SIGKILL, 3))
        status, none = self.play(0, "stop")
        self.assertEqual((status, none), (0, []))
        self.assert_told(hangs)
        self.assert_sessions(3)

    def test_exit_seals_the_events_that_wait(self):
        status, hangs = self.play(3, "exit")
        self.assertEqual((status, len(hangs)), (0, 3))
        self.assert_told(hangs)


if __name__ == "__main__":
    unittest.main(verbosity=2)
