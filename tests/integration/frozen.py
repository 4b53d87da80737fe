#!/usr/bin/env python3
"""PostgreSQL stopped by SIGSTOP while mired serves: its kernel still accepts connections, and nobody answers. Each request gets its
503 as soon as the watch has noticed (2 s), whether it waits on an open connection or asks for a new one; health names the cause;
what needs no database is served; and nothing that was acknowledged is missing afterwards."""

import os
import pathlib
import signal
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402

WAIT_S = 5  # 2 s, and what a busy machine adds; a connection that is opened with libpq's own limit takes 7 s


def processes_of(data):
    """The postmaster of this data directory, and all that it started."""
    first = int((data / "postgres/postmaster.pid").read_text().split()[0])
    children = pathlib.Path(f"/proc/{first}/task/{first}/children").read_text().split()
    return [first, *map(int, children)]


class Frozen(unittest.TestCase):
    def setUp(self):
        folder = mired.scratch("frozen")
        self.addCleanup(folder.cleanup)
        self.server = mired.Mired(pathlib.Path(folder.name))
        self.addCleanup(self.server.stop)
        self.key = self.server.key("alpha", "ingest")
        self.kept = []

    def ask(self, method, path, body=None, key=None):
        """Status and text, within the time."""
        begun = time.monotonic()
        answer = self.server.ask(method, path, key, body, Content_Type="application/json")
        took = time.monotonic() - begun
        self.assertLess(took, WAIT_S, (method, path, answer))
        return answer[0], answer[2].decode()

    def send(self):
        one = mired.report_id()
        status, _ = self.ask("POST", "/api/v1/reports", mired.report(one), self.key)
        if status == 202:
            self.kept.append(one)
        return status

    def freeze(self):
        stopped = processes_of(self.server.data)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        self.addCleanup(self.thaw, stopped)
        return stopped

    def thaw(self, stopped):
        for pid in stopped:
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass

    def test_frozen(self):
        self.assertEqual(self.send(), 202)
        self.assertEqual(self.ask("GET", "/api/v1/apps")[0], 200)
        stopped = self.freeze()

        # At once, before anybody has noticed: more than there are connections, so that some are opened now.
        said = []
        asking = [threading.Thread(target=lambda: said.append(self.ask("GET", "/api/v1/apps/alpha/overview?t=24h")[0])) for _ in range(24)]
        asking.append(threading.Thread(target=lambda: said.append(self.send())))
        for one in asking:
            one.start()
        for one in asking:
            one.join()
        self.assertEqual(said, [503] * 25)

        status, text = self.ask("GET", "/healthz")
        self.assertEqual(status, 503)
        self.assertIn("frozen", text)
        self.assertEqual(self.ask("GET", "/metrics")[0], 200)
        self.assertEqual(self.send(), 503)

        self.thaw(stopped)
        mired.until("it is healthy again", lambda: self.ask("GET", "/healthz")[0] == 200)
        self.assertEqual(mired.until("a report is taken again", lambda: self.send() == 202), True)
        self.assertGreaterEqual(len(self.kept), 2)
        self.assertEqual(sorted(self.kept), sorted(self.server.sql("SELECT report_id FROM report")))


if __name__ == "__main__":
    unittest.main()
