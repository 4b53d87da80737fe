#!/usr/bin/env python3
"""Crashes of programs with libmire: the next start reports the stack of the crash, and the program dies as it would have.

Every report is checked against the schema. Functions are those of the symbol table.
"""
import glob
import os
import signal
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from sdk_run import BINARY, OK, RUN, Server, check

APP = os.path.join(BINARY, "tests", "integration", "crash_app")
THROWN = os.path.join(BINARY, "tests", "integration", "crash_thrown")
BARE = os.path.join(BINARY, "tests", "integration", "crash_bare")


def symbols(app):
    """Functions of the program: (begin, end, name)."""
    lines = subprocess.run(["nm", "-S", app], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return [(int(row[0], 16), int(row[0], 16) + int(row[1], 16), row[3]) for row in map(str.split, lines)
            if len(row) == 4 and row[2] in "tT"]


def functions(report, node, app):
    """Names of the program's functions on the way from a node to the root, innermost first."""
    names = []
    while node:
        frame = report["nodes"]["frame"][node - 1]
        image, offset = report["frames"]["image"][frame], report["frames"]["offset"][frame]
        if image >= 0 and report["images"][image]["name"] == app:
            names += [name for begin, end, name in symbols(app) if begin <= offset < end]
        node -= report["nodes"]["up"][node - 1]
    return names


class CrashTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="mire-crash-")
        self.server = Server(OK)

    def tearDown(self):
        self.server.close()
        self.scratch.cleanup()

    def run_app(self, how, url="http://127.0.0.1:9", app=APP):
        return subprocess.run([app, url, self.scratch.name, how], stdout=subprocess.PIPE, text=True, timeout=120, check=False)

    def crashes(self):
        return [report for report in self.server.reports() if report.get("event", {}).get("trigger") == "crash"]

    def crash(self, how, number, app=APP, name=None):
        """The report of a run that ends by the signal. A later start makes it; on a busy machine not the first."""
        done = self.run_app(how, app=app)
        self.assertEqual(done.returncode, -number, done)
        for _ in range(10):
            self.assertEqual(self.run_app("start", self.server.url, app).returncode, 0)
            if self.crashes():
                break
        report, = self.crashes()
        check(report)
        self.assertEqual(report["event"]["name"], name or signal.Signals(number).name)
        self.assertEqual(report["event"]["duration_ms"], 0)
        self.assertIn(report["exit"]["verdict"], ("abort" if number == signal.SIGABRT else "crash",))
        self.assertEqual(report["exit"]["signal"], number)
        self.out = done.stdout
        return report

    def stack(self, report):
        return functions(report, report["event"]["samples"]["node"][0], APP)

    def test_a_null_pointer(self):
        names = self.stack(self.crash("null", signal.SIGSEGV))
        self.assertEqual(names[:3], ["planted_read", "planted_checkout", "main"])

    def test_a_call_of_address_0(self):
        names = self.stack(self.crash("nowhere", signal.SIGSEGV))
        self.assertEqual(names[:3], ["planted_call", "planted_checkout", "main"])

    def test_abort(self):
        names = self.stack(self.crash("abort", signal.SIGABRT))
        self.assertEqual(names[:3], ["planted_abort", "planted_checkout", "main"])

    def thrown(self, how, name, crumb):
        """The run's exception names its crash, and the last step is its reason; the stack is that of the throw."""
        report = self.crash(how, signal.SIGABRT, THROWN, name)
        names = functions(report, report["event"]["samples"]["node"][0], THROWN)
        self.assertTrue(any("planted_throw" in one for one in names), names)
        self.assertEqual(report.get("context", {}).get("crumbs", {}).get("texts", []), crumb)

    def test_an_exception_with_a_text(self):
        self.thrown("range", "std::out_of_range", ["uncaught std::out_of_range: cart has 3 rows, not 7"])

    def test_an_exception_of_a_type_without_a_base(self):
        self.thrown("plain", "shop::Lost", ["uncaught shop::Lost"])

    def test_an_exception_whose_base_is_not_the_only_one(self):
        self.thrown("two", "shop::Both", ["uncaught shop::Both"])

    def test_a_terminate_handler_of_the_app_is_called(self):
        self.thrown("own", "std::out_of_range", ["uncaught std::out_of_range: cart has 3 rows, not 7"])
        self.assertEqual(self.out, "the app's own handler\n")

    def test_the_end_without_an_exception(self):
        self.thrown("none", None, [])

    @unittest.skipUnless(os.uname().machine == "x86_64", "a division by 0 has a result on this processor")
    def test_a_division_by_0(self):
        self.assertEqual(self.stack(self.crash("divide", signal.SIGFPE))[0], "planted_divide")

    def test_an_overflow_of_the_stack(self):
        names = self.stack(self.crash("deep", signal.SIGSEGV))
        self.assertEqual(names[0], "planted_deep")

    def test_another_thread(self):
        report = self.crash("thread", signal.SIGSEGV)
        self.assertEqual(self.stack(report)[:2], ["planted_read", "crash_thread"])
        others = [functions(report, node, APP) for node in report["event"]["samples"]["node"][1:]]
        others += [functions(report, thread["node"], APP) for thread in report["threads"]]
        self.assertTrue(any("planted_wait" in names for names in others), others)

    def test_an_earlier_handler_of_the_app_is_called(self):
        report = self.crash("chained", signal.SIGSEGV)
        self.assertEqual(self.out, "the app's own handler\n")
        self.assertEqual(self.stack(report)[0], "planted_read")

    def test_a_fault_that_the_app_repairs_or_outlives_is_none(self):
        for how in ("repaired", "jumped"):
            self.assertEqual(self.run_app(how).returncode, 0, how)
            for _ in range(2):
                self.assertEqual(self.run_app("start", self.server.url).returncode, 0)
        self.assertEqual(self.crashes(), [])

    def test_an_unchanged_program(self):
        done = subprocess.run([RUN, "--server", self.server.url, "--key", "mk_test", "--store", self.scratch.name, "--", BARE,
                               "null"], timeout=120, check=False)
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV)
        report, = self.crashes()
        names = functions(report, report["event"]["samples"]["node"][0], BARE)
        self.assertEqual(names[:3], ["planted_read", "planted_checkout", "main"])
        self.assertEqual(report["exit"]["verdict"], "crash")

    def test_no_file_stays(self):
        self.crash("null", signal.SIGSEGV)
        self.assertEqual(glob.glob(os.path.join(self.scratch.name, "box", "*.crash")), [])


if __name__ == "__main__":
    unittest.main()
