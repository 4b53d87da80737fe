#!/usr/bin/env python3
"""What a process does too much of: real programs compute, write and drop frames, and their reports say who did it where.

Every report is checked against the schema. The limits are far below what the programs do, so that a busy machine, which
lets them do less, makes no difference.
"""
import glob
import os
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
from sdk_run import BINARY, SOURCE, check, unpack

sys.path.insert(0, os.path.join(SOURCE, "tests/support"))
from mired import until
from starved import unless_starved

APP = os.path.join(BINARY, "tests", "integration", "kinds_app")
CPU = ("cpu_percent=10", "cpu_window_ms=1000")


def symbols():
    """Functions of the program: (begin, end, name)."""
    lines = subprocess.run(["nm", "-S", APP], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return [(int(row[0], 16), int(row[0], 16) + int(row[1], 16), row[3]) for row in map(str.split, lines)
            if len(row) == 4 and row[2] in "tT"]


SYMBOLS = symbols()


def functions(report, node):
    """Names of the program's functions on the way from a node to the root, innermost first."""
    names = []
    while node:
        frame = report["nodes"]["frame"][node - 1]
        image, offset = report["frames"]["image"][frame], report["frames"]["offset"][frame]
        if image >= 0 and report["images"][image]["name"] == APP:
            names += [name for begin, end, name in SYMBOLS if begin <= offset < end]
        node -= report["nodes"]["up"][node - 1]
    return names


def weight_of(report, function):
    """Share of the samples' weight that has the function in its stack."""
    samples = report["event"]["samples"]
    weights = [weight + 1e-9 for weight in samples["weight_ms"]]
    return sum(weight for weight, node in zip(weights, samples["node"]) if function in functions(report, node)) / sum(weights)


@unless_starved
class KindsTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="mire-kinds-")

    def tearDown(self):
        self.scratch.cleanup()

    def command(self, what, ms, *settings):
        return [APP, what, str(ms), self.scratch.name, *settings]

    def reports(self):
        found = []
        for path in sorted(glob.glob(os.path.join(self.scratch.name, "out", "*.report"))):
            with open(path, "rb") as file:
                found.append(unpack(file.read()))
            check(found[-1])
        return found

    def run_it(self, what, ms, *settings):
        subprocess.run(self.command(what, ms, *settings), timeout=300, check=True)
        return self.reports()

    def assert_computes(self, report, share):
        """A sleeping thread is read as it lies; one that computes answers by a handler."""
        if os.environ.get("MIRE_SANITIZE") != "thread":  # which runs handlers later, somewhere in itself
            self.assertGreater(weight_of(report, "planted_spin"), share)

    def assert_cost(self, report):
        cost = report["cost"]
        self.assertGreater(cost["samples"], 0)
        self.assertGreater(cost["unwind_sum_ns"], 0)
        self.assertGreater(cost["wakeups"], 0)
        self.assertGreaterEqual(cost["stopped_sum_ns"], cost["stopped_max_ns"])

    def test_cpu_names_the_thread_and_the_function(self):
        report, = self.run_it("spin", 4000, *CPU)
        hang = report["event"]
        self.assertEqual((hang["trigger"], hang["guess"]), ("cpu", "cpu_high"))
        self.assertGreaterEqual(hang["cpu"]["percent"], 10)
        self.assertEqual(hang["cpu"]["limit_percent"], 10)
        self.assertNotIn("thread", hang)
        worker = report["threads"][0]
        self.assertEqual((worker["name"], worker["role"]), ("worker", "busy"))
        self.assertGreater(worker["cpu_ms"], 0)
        self.assertGreaterEqual(len(hang["samples"]["thread"]), 3)
        self.assertEqual(set(hang["samples"]["thread"]), {1})
        self.assert_computes(report, 0.9)
        self.assertLessEqual(sum(hang["samples"]["weight_ms"]), hang["duration_ms"] + 200)
        self.assert_cost(report)

    def test_without_suppression_a_load_is_told_window_by_window(self):
        self.assertGreaterEqual(len(self.run_it("spin", 5000, "suppress_ms=0", *CPU)), 2)

    def test_power_is_the_average_of_a_longer_window(self):
        report, = self.run_it("spin", 8000, "cpu_percent=0", "power_percent=10", "power_window_ms=5000", "period_ms=10")
        self.assertEqual((report["event"]["trigger"], report["event"]["guess"]), ("power", "power"))
        self.assertGreaterEqual(report["event"]["duration_ms"], 4000)
        self.assert_computes(report, 0.9)

    def test_a_hang_that_computes_is_one_report(self):
        report, = self.run_it("hang", 2500, "launch_ms=400", *CPU)
        self.assertEqual(report["event"]["trigger"], "busy")
        self.assert_computes(report, 0.5)

    def test_disk_names_who_wrote(self):
        report, = self.run_it("write", 4000, "disk_kib=20000", "disk_window_ms=2000", "cpu_percent=0")
        hang = report["event"]
        self.assertEqual((hang["trigger"], hang["guess"]), ("disk", "disk_io"))
        self.assertGreaterEqual(hang["disk"]["write_bytes"], 20000 * 1024)
        self.assertEqual(hang["disk"]["limit_bytes"], 20000 * 1024)
        self.assertGreater(weight_of(report, "write_file"), 0.9)
        self.assertEqual(report["threads"][0]["name"], "worker")

    def test_disk_tells_reading_from_writing(self):
        report, = self.run_it("read", 4000, "disk_kib=40000", "disk_window_ms=2000", "cpu_percent=0")
        disk = report["event"]["disk"]
        self.assertGreater(disk["read_bytes"], 20000 * 1024)
        self.assertGreater(disk["read_bytes"], disk["write_bytes"])
        self.assertGreater(weight_of(report, "planted_read"), 0.9)

    def test_an_idle_process_is_never_woken(self):
        with subprocess.Popen(self.command("asleep", 600000)) as process:
            try:
                until("there is a check thread", lambda: self.switches(process.pid) is not None)
                until("it is not woken", lambda: self.rests(process.pid), 60)
            finally:
                process.kill()
        self.assertEqual(self.reports(), [])

    def rests(self, pid):
        before = self.switches(pid)
        time.sleep(1.5)
        return self.switches(pid) == before

    def switches(self, pid):
        """How often the check thread has slept; None: there is none yet."""
        for task in glob.glob("/proc/%d/task/*/status" % pid):
            with open(task) as file:
                fields = dict(line.split(":", 1) for line in file)
            if fields["Name"].strip() == "mire-check":
                return int(fields["voluntary_ctxt_switches"])
        return None

    def test_capture_takes_the_callers_stack_and_test_is_always_told(self):
        call, test = sorted(self.run_it("capture", 300), key=lambda report: report["event"]["trigger"])  # of one millisecond, perhaps
        self.assertEqual((call["event"]["trigger"], call["event"]["guess"], call["event"]["name"]), ("call", "custom", "noticed"))
        self.assertEqual((test["event"]["trigger"], test["event"]["guess"]), ("test", "test"))
        for report in (call, test):
            stack = functions(report, report["event"]["samples"]["node"][0])
            self.assertEqual(stack[0], "planted_call", "the library's own frames are left out")
            self.assert_cost(report)

    def test_dropped_frames_of_a_window_have_the_stacks_of_the_gaps(self):
        report, = self.run_it("frames", 11500, "cpu_percent=0")
        hang = report["event"]
        self.assertEqual((hang["trigger"], hang["guess"]), ("frames", "frames"))
        self.assertGreaterEqual(hang["frames"]["dropped"], 30)
        self.assertGreaterEqual(hang["frames"]["longest_ms"], 120)
        self.assertGreaterEqual(hang["duration_ms"], 9900)
        self.assertGreater(weight_of(report, "planted_draw"), 0.5)

    def test_a_scene_is_reported_under_its_name(self):
        report, = self.run_it("scene", 2500)
        hang = report["event"]
        self.assertEqual((hang["trigger"], hang["name"]), ("frames", "scroll"))
        self.assertGreaterEqual(hang["frames"]["dropped"], 30)
        self.assertGreater(weight_of(report, "planted_draw"), 0.5)

    def kill_in(self, what, ms, *settings, after_s=0.0):
        with subprocess.Popen(self.command(what, ms, *settings), stdout=subprocess.PIPE, text=True) as process:
            if ms == 0:
                self.assertEqual(process.stdout.readline(), "hangs\n")
            time.sleep(after_s)
            process.kill()

    def test_what_was_held_back_is_told_and_a_deadly_hang_never_is(self):
        self.kill_in("again", 0, "foreground_ms=300", after_s=3.0)
        self.run_it("asleep", 100)  # makes a report of what the killed one left behind
        first, last = [report["event"] for report in self.reports()]
        self.assertEqual((first["open"], last["open"], last["guess"]), (False, True, "blocked_and_killed"))
        self.assertNotIn("suppressed", last)
        last = self.run_it("again", 1500, "foreground_ms=300")[-1]
        self.assertEqual(last["event"]["suppressed"]["count"], 1)
        self.assertGreaterEqual(last["event"]["suppressed"]["duration_ms"], 300)
        self.assertEqual(sum(report["drops"].get("suppressed", 0) for report in self.reports()), 1)

    def test_a_process_killed_near_a_limit_leaves_nothing(self):
        self.kill_in("scene", 60000, "frames_dropped=60", after_s=1.2)  # some 40 are dropped by then
        self.assertEqual(self.run_it("asleep", 100), [])

    def test_a_library_that_costs_too_much_samples_less_often(self):
        report, = self.run_it("hang", 4500, "launch_ms=300", "period_ms=2", "budget_ppm=100", "budget_peak_ppm=1000")
        self.assertGreater(report["cost"]["period_raised"], 0)
        samples = report["event"]["samples"]
        self.assertGreater(samples["period_ms"], 2)

    def test_smooth_frames_are_not_reported(self):
        self.assertEqual(self.run_it("smooth", 2000, "frames_dropped=1000"), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
