#!/usr/bin/env python3
"""What an app tells of its moment (mire/context.h) is in the reports: of a living process, of a killed one, of a child."""
import hashlib
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from sdk_run import BINARY, OK, Server, check

APP = os.path.join(BINARY, "tests", "integration", "context_app")
CLI = os.path.join(BINARY, "server", "mire")


class ContextTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="mire-context-")
        self.server = Server(OK)

    def tearDown(self):
        self.server.close()
        self.scratch.cleanup()

    def run_app(self, how, url="http://127.0.0.1:9"):
        return subprocess.run([APP, url, self.scratch.name, how], timeout=120, check=False).returncode

    def events(self):
        return [report for report in self.server.reports() if report["kind"] == "event"]

    def send(self):
        """The next start makes the report of a killed process in the background; on a busy machine a later one does."""
        for _ in range(10):
            self.assertEqual(self.run_app("start", self.server.url), 0)
            if self.events():
                return

    def report_of(self, how):
        """The hang's report. One of a killed process is sent by the next start."""
        if how == "end":
            self.assertEqual(self.run_app(how, self.server.url), 0)
        else:
            self.assertEqual(self.run_app(how), 0 if how == "fork" else -9)
            self.send()
        reports = self.events()
        self.assertEqual(len(reports), 1, [report["kind"] for report in self.server.reports()])
        check(reports[0])
        return reports[0]

    def assert_context(self, report):
        device, context = report["device"], report["context"]
        self.assertEqual((device["model"], device["class"], device["os"], device["os_version"]),
                         ("Pixel 8", "8gb", "android", "14"))
        self.assertEqual((context["state"], context["scene"]), ("visible", "CartActivity"))
        self.assertTrue(report["event"]["foreground"])
        self.assertTrue(context["user_hashed"])
        self.assertEqual(context["user"], hashlib.sha256(b"mire:4711").hexdigest()[:32])
        tags = dict(context["tags"])
        for room in ("free_memory", "free_disk"):
            self.assertRegex(tags.pop(room), r"^[0-9]+ MiB$")
        self.assertEqual(tags, {"plan": "paid", "flag.new-cart": "on", "battery": "35", "charging": "false", "thermal": "serious",
                                "orientation": "landscape", "network": "unmetered"})
        self.assertEqual(context["crumbs"]["texts"], [f"step {i}" for i in range(37, 101)])
        self.assertEqual(context["crumbs"]["at_ms"], sorted(context["crumbs"]["at_ms"]))

    def test_of_a_hang_that_ends(self):
        report = self.report_of("end")
        self.assert_context(report)
        self.assertFalse(report["event"]["open"])

    def test_survives_sigkill(self):
        report = self.report_of("kill")
        self.assert_context(report)
        self.assertTrue(report["event"]["open"])

    def test_a_forked_child_inherits_it(self):
        self.assert_context(self.report_of("fork"))

    @unittest.skipUnless(os.path.exists(CLI), "built without the server")
    def test_mire_show_prints_it(self):
        self.run_app("kill")
        self.send()
        file = os.path.join(self.scratch.name, "one.report")
        with open(file, "wb") as out:
            out.write(next(body for body, report in zip(self.server.bodies, self.server.reports()) if report["kind"] == "event"))
        said = subprocess.run([CLI, "show", file], stdout=subprocess.PIPE, text=True, check=True).stdout
        for line in ("app state +visible", "scene +CartActivity", "user, hashed +[0-9a-f]{32}", "tag plan +paid", "tag flag.new-cart +on", "tag thermal +serious", "tag free_disk +[0-9]+ MiB",
                     "breadcrumb, [0-9.]+ s (before|after) +step 100", "model +Pixel 8", "OS +android 14"):
            self.assertRegex(said, "(?m)^" + line + "$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
