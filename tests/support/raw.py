"""Requests as raw bytes, to a real mired that keeps its log, beside an honest device."""

import contextlib
import pathlib
import re
import resource
import socket
import subprocess
import time
import unittest

import mired

HOST = "Host: localhost"


class Server(mired.Mired):
    """Keeps its log, and can be started with other limits."""

    def __init__(self, folder, *settings, files=None):
        self.log, self.files = folder / "log", files
        super().__init__(folder, "--log-level=info", *settings)

    def popen(self, words):
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, self.files)) if self.files else None
        with self.log.open("ab") as out:
            return subprocess.Popen(words, stderr=out, preexec_fn=limit)

    def logged(self, word):
        return [line for line in self.log.read_text().splitlines() if word in line]

    def gauge(self, name):
        status, _, body = self.ask("GET", "/metrics")
        assert status == 200, status
        found = re.search(rf"^{re.escape(name)} (\S+)$", body.decode(), re.M)
        assert found, name
        return float(found[1])

    def connect(self, timeout=30):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def report(self, key):
        """The status of one honest report, on a connection of its own."""
        body = mired.report(mired.report_id())
        return self.ask("POST", "/api/v1/reports", key, body)[0]


def head(method, path, *lines):
    return ("\r\n".join((f"{method} {path} HTTP/1.1", HOST, *lines)) + "\r\n\r\n").encode()


def read_all(sock, seconds=10):
    """All that comes until the server closes; fails if it does not."""
    sock.settimeout(seconds)
    got = b""
    with contextlib.suppress(ConnectionResetError):
        while (piece := sock.recv(65536)):
            got += piece
    return got


def answers(raw):
    return len(re.findall(rb"HTTP/1\.1 \d\d\d ", raw))


def status_of(raw):
    return int(raw.split(b" ", 2)[1]) if raw.startswith(b"HTTP/1.1 ") else None


class Case(unittest.TestCase):
    settings, files = (), None

    @classmethod
    def setUpClass(cls):
        cls.scratch = mired.scratch("attacks")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.server = Server(pathlib.Path(cls.scratch.name), *cls.settings, files=cls.files)
        cls.addClassCleanup(cls.server.stop)
        cls.key = cls.server.key("shop", "ingest")
        cls.symbols = cls.server.key("shop", "symbols")
        mired.until("the key is known", lambda: cls.server.report(cls.key) == 202)

    def is_served(self):
        try:
            return self.server.report(self.key) == 202
        except OSError:
            return False

    def honest(self, seconds=5):
        """Reports are taken, each within the time that a device would give it."""
        for _ in range(5):
            begun = time.monotonic()
            self.assertEqual(self.server.report(self.key), 202)
            self.assertLess(time.monotonic() - begun, seconds)
