#!/usr/bin/env python3
"""Android's own Looper in C++, of Debian's libutils: a handler that hangs is one report, an idle loop none."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from sdk_run import BINARY, OK, Server, check

APP = os.path.join(BINARY, "tests", "integration", "looper_app")


def functions(report, node):
    """Names of the program's functions on the way from a node to the root, innermost first."""
    lines = subprocess.run(["nm", "-S", "-C", APP], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    rows = [(int(row[0], 16), int(row[1], 16), row[3]) for row in (line.split(None, 3) for line in lines) if len(row) == 4 and row[2] in "tTwW"]
    names = []
    while node:
        frame = report["nodes"]["frame"][node - 1]
        image, offset = report["frames"]["image"][frame], report["frames"]["offset"][frame]
        path = report["images"][image]["name"] if image >= 0 else "?"
        found = [name for begin, size, name in rows if path == APP and begin <= offset < begin + size]
        names.append(found[0] if found else os.path.basename(path))
        node -= report["nodes"]["up"][node - 1]
    return names


class NativeLooperTest(unittest.TestCase):
    def test_a_handler_that_hangs_is_told(self):
        server = Server(OK)
        with tempfile.TemporaryDirectory(prefix="mire-native-") as store:
            done = subprocess.run([APP, server.url, os.path.join(store, "store")], stdout=subprocess.PIPE, text=True, timeout=200, check=True)
        server.close()
        said = int(done.stdout.split()[1])
        report, = [report for report in server.reports() if report["kind"] == "event" and report["event"]["duration_ms"] > 1000]
        check(report)
        self.assertAlmostEqual(report["event"]["duration_ms"], said, delta=max(150, said * 0.15))
        stacks = [functions(report, node) for node in report["event"]["samples"]["node"] if node]
        chain = ["Cart::sort_items(long)", "Cart::handleMessage(android::Message const&)", "libutils.so.0"]
        told = [names for names in stacks if "|".join(chain) in "|".join(names)]
        self.assertGreaterEqual(len(told), len(stacks) - max(1, 0.2 * len(stacks)), stacks)
        self.assertIn("main", told[0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
