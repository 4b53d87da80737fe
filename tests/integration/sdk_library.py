#!/usr/bin/env python3
"""libmire inside an app: what its worker sends, when it gives up, and that the static library does the same."""
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
from sdk_run import BINARY, KEY, OK, Server, check

STARTED = "start MIRE_OK\nflush MIRE_OK\nstop MIRE_OK\n"


class LibraryTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="mire-library-")

    def tearDown(self):
        self.scratch.cleanup()

    def run_app(self, url, app="library_app"):
        return subprocess.run([os.path.join(BINARY, "tests", "integration", app), url, KEY, self.scratch.name],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)

    def waiting(self):
        return os.listdir(os.path.join(self.scratch.name, "out"))

    def assert_sent(self, app):
        server = Server(OK)
        done = self.run_app(server.url, app)
        self.assertEqual((done.stdout, done.stderr), (STARTED, ""))
        report, = server.reports()
        server.close()
        check(report)
        self.assertEqual(report["app"]["name"], "library-app")
        self.assertEqual(report["app"]["channel"], "gray")
        self.assertTrue(any(app in image["name"] for image in report["images"]), "unwound into the app")
        self.assertEqual(self.waiting(), [])

    def test_shared_library_sends(self):
        self.assert_sent("library_app")

    def test_static_library_sends(self):
        self.assert_sent("library_app_static")

    def test_lost_answer_is_asked_for_again(self):
        server = Server(None, OK)
        done = self.run_app(server.url)
        self.assertEqual(done.stdout, STARTED)
        self.assertIn("2 cannot send", done.stderr)
        first, second = server.reports()
        server.close()
        self.assertEqual(first["id"], second["id"])

    def test_stop_does_not_wait_for_a_server_that_does_not_answer(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            begin = time.monotonic()
            done = self.run_app("http://127.0.0.1:%d" % silent.getsockname()[1])
            self.assertEqual(done.stdout, STARTED.replace("flush MIRE_OK", "flush MIRE_E_TIMEOUT"))
            self.assertLess(time.monotonic() - begin, 25)
        # The hang; and the watched thread's wait in mire_flush, where it is not taken for the loop's.
        self.assertIn(len(self.waiting()), (1, 2))

    @unittest.skipIf(os.environ.get("MIRE_SANITIZE") == "thread",
                     "ThreadSanitizer's own thread outlives the program's last one, with libmire or without")
    def test_the_process_ends_with_the_last_thread_of_the_app(self):
        app = os.path.join(BINARY, "tests", "integration", "leaver_app")
        for how in ("exit", "cancel", "raw", "strict"):
            begin = time.monotonic()
            subprocess.run([app, how, "800", self.scratch.name], stdout=subprocess.DEVNULL, timeout=300, check=True)
            self.assertGreaterEqual(time.monotonic() - begin, 0.8)


if __name__ == "__main__":
    unittest.main(verbosity=2)
