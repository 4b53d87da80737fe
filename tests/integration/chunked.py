#!/usr/bin/env python3
"""Bodies in chunks, as clients send them that do not know the length first: what is taken is the same body, and a body that
two readers could cut differently is refused."""

import contextlib
import gzip
import http.client
import json
import shutil
import socket
import subprocess
import sys
import time
import unittest
import pathlib

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402
from raw import Case, answers, head, read_all, status_of  # noqa: E402

NODE = """
const [url, key, path] = process.argv.slice(1);
const parts = require("fs").readFileSync(path).toString("latin1").match(/[^]{1,100}/g).map(part => Buffer.from(part, "latin1"));
const request = require("http").request(url, { method: "POST", headers: { Authorization: "Bearer " + key } }, answer => {
  console.log(answer.statusCode, request.getHeader("Content-Length") === undefined);
  answer.resume();
});
parts.forEach(part => request.write(part));
request.end();
"""
NEXT = head("GET", "/metrics")
REPORT_MAX = 4 << 20


def chunks(body, size=100, last=b"0\r\n\r\n"):
    parts = [body[at:at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + last


class Chunked(Case):
    settings = ("--headers-s=2", "--idle-s=5")

    def head(self, *lines, path="/api/v1/reports", method="POST", key=None):
        return head(method, path, f"Authorization: Bearer {key or self.key}", "Transfer-Encoding: chunked", *lines)

    def answer(self, raw, step=None):
        with self.server.connect() as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with contextlib.suppress(OSError):  # of a refused body the rest is not read
                for at in range(0, len(raw), step or len(raw)):
                    sock.send(raw[at:at + step]) if step else sock.sendall(raw)
            return read_all(sock)

    def stored(self, id):
        """The bytes that the server keeps of a report."""
        found = self.server.sql(f"SELECT encode(body, 'hex') FROM report WHERE report_id = '{id}'")
        return bytes.fromhex(found[0]) if found else None

    def a_report(self, more=0):
        id = mired.report_id()
        return id, mired.report(id, more)

    def test_real_clients_are_served(self):
        path = self.server.folder / "report"
        url = self.server.url + "/api/v1/reports"
        id, body = self.a_report(5000)
        path.write_bytes(body)
        done = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", f"Authorization: Bearer {self.key}", "-T", "-",
                               "-X", "POST", url], stdin=path.open(), capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, "202")
        self.assertEqual(self.stored(id), body)

        id, body = self.a_report(5000)
        client = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        client.request("POST", "/api/v1/reports", iter([body[:7], body[7:4000], body[4000:]]), {"Authorization": f"Bearer {self.key}"},
                       encode_chunked=True)
        self.assertEqual(client.getresponse().status, 202)
        client.close()
        self.assertEqual(self.stored(id), body)

        if shutil.which("node"):
            id, body = self.a_report(5000)
            path.write_bytes(body)
            done = subprocess.run(["node", "-e", NODE, "--", url, self.key, path], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stdout.split(), ["202", "true"], done.stderr)
            self.assertEqual(self.stored(id), body)

    def test_however_it_is_cut_the_body_is_the_same(self):
        for size, step in ((1, 1), (100000, 1), (1, None), (3, 5), (100000, None)):
            with self.subTest(size=size, step=step):
                id, body = self.a_report()
                got = self.answer(self.head("Connection: close") + chunks(body, size), step)
                self.assertEqual((status_of(got), self.stored(id)), (202, body))
        id, body = self.a_report(3 << 20)
        self.assertEqual(status_of(self.answer(self.head("Connection: close") + chunks(body, 1 << 20))), 202)
        self.assertEqual(self.stored(id), body)
        id, body = self.a_report()
        packed = gzip.compress(body)
        self.assertEqual(status_of(self.answer(self.head("Connection: close", "Content-Encoding: gzip") + chunks(packed, 50))), 202)
        self.assertEqual(gzip.decompress(self.stored(id)), body)
        self.assertEqual(self.server.gauge("mire_http_bodies_bytes"), 0)

    def test_extensions_and_trailers_change_nothing(self):
        id, body = self.a_report()
        raw = b"%x;a=b;c=\"d;e\"\r\n%s\r\n0;last\r\nContent-Length: 3\r\nHost: attacker.example\r\n\r\n" % (len(body), body)
        self.assertEqual(status_of(self.answer(self.head("Connection: close", "Trailer: Host") + raw)), 202)
        self.assertEqual(self.stored(id), body)

    def test_the_next_request_begins_behind_the_body(self):
        first, second = self.a_report(), self.a_report(20000)
        raw = b"".join(self.head() + chunks(body, 900) for _, body in (first, second)) + head("GET", "/healthz", "Connection: close")
        got = self.answer(raw)
        self.assertEqual(answers(got), 3, got)
        self.assertEqual(got.count(b"HTTP/1.1 202 "), 2)
        for id, body in (first, second):
            self.assertEqual(self.stored(id), body)

    def test_headers_that_fill_the_buffer_leave_room_for_chunks(self):
        for whole in (8191, 8192, 16384, 32767, 32768):
            with self.subTest(whole=whole):
                id, body = self.a_report()
                bare = self.head("Connection: close", "X: ")
                raw = bare[:-4] + b"y" * (whole - len(bare)) + bare[-4:]
                self.assertEqual(len(raw), whole)
                self.assertEqual(status_of(self.answer(raw + chunks(body))), 202)
                self.assertEqual(self.stored(id), body)

    def test_a_client_that_asks_first_is_told_to_go_on(self):
        id, body = self.a_report()
        with self.server.connect() as sock:
            sock.sendall(self.head("Expect: 100-continue", "Connection: close"))
            self.assertTrue(sock.recv(100).startswith(b"HTTP/1.1 100 "))
            sock.sendall(chunks(body))
            self.assertEqual(status_of(read_all(sock)), 202)
        self.assertEqual(self.stored(id), body)

    def test_files_may_come_in_chunks(self):
        client = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        with (mired.BINARY / "server/mire").open("rb") as file:
            client.request("PUT", "/api/v1/symbols?name=mire", iter(lambda: file.read(100000), b""),
                           {"Authorization": f"Bearer {self.symbols}"}, encode_chunked=True)
        answer = client.getresponse()
        self.assertIn(answer.status, (200, 201), answer.read())
        client.close()

    def test_what_two_readers_could_cut_differently_is_400_and_the_end(self):
        cut = self.server.gauge('mire_http_cut_total{reason="malformed"}')
        bad = {"a bare LF": b"5\nhello\r\n0\r\n\r\n", "LF in an extension": b"5;a\nhello\r\n0\r\n\r\n", "a space": b"5 \r\nhello\r\n0\r\n\r\n",
               "a sign": b"+5\r\nhello\r\n0\r\n\r\n", "a prefix": b"0x5\r\nhello\r\n0\r\n\r\n", "no size": b"\r\nhello\r\n0\r\n\r\n",
               "too large": b"100000005\r\nhello\r\n0\r\n\r\n", "no end of a chunk": b"5\r\nhello0\r\n\r\n", "LF behind a chunk": b"5\r\nhello\n0\r\n\r\n",
               "a folded trailer": b"0\r\nA: b\r\n c\r\n\r\n", "a request as a trailer": b"0\r\nGET / HTTP/1.1\r\n\r\n",
               "many extensions": b"".join(b"1;%s\r\nx\r\n" % (b"e" * 100) for _ in range(100)) + b"0\r\n\r\n",
               "many trailers": b"0\r\n" + b"A: b\r\n" * 3000 + b"\r\n"}
        for what, raw in bad.items():
            for step in (None, 1) if len(raw) < 100 else (None,):
                with self.subTest(what, step=step):
                    got = self.answer(self.head() + raw + NEXT, step)
                    self.assertEqual((status_of(got), answers(got)), (400, 1), got[:200])
                    self.assertIn(b"\r\nConnection: close\r\n", got)
        self.assertGreaterEqual(self.server.gauge('mire_http_cut_total{reason="malformed"}'), cut + len(bad))
        for coding in ("gzip, chunked", "chunked, chunked", "identity", "chunked, identity", "xchunked"):
            got = self.answer(head("POST", "/api/v1/reports", f"Authorization: Bearer {self.key}", f"Transfer-Encoding: {coding}")
                              + b"0\r\n\r\n" + NEXT)
            self.assertEqual((status_of(got), answers(got)), (501, 1), coding)
        for lines in (("Content-Length: 5",), ("Transfer-Encoding: chunked",)):
            got = self.answer(self.head(*lines) + b"0\r\n\r\n" + NEXT)
            self.assertEqual((status_of(got), answers(got)), (400, 1), lines)

    def test_a_body_takes_memory_as_it_comes_and_no_more_than_the_route_allows(self):
        socks = [self.server.connect() for _ in range(40)]
        for sock in socks:
            sock.sendall(self.head() + b"fffff\r\n")
        self.honest()
        self.assertEqual(self.server.gauge("mire_http_bodies_bytes"), 0)
        for sock in socks:
            sock.close()
        for raw in (b"%x\r\n" % (REPORT_MAX + 1) + b" " * (REPORT_MAX + 1), chunks(b" " * (REPORT_MAX + 1), 60000, b"")):
            got = self.answer(self.head() + raw)
            self.assertEqual((status_of(got), answers(got)), (413, 1), got[:200])
        got = self.answer(head("GET", "/healthz", "Transfer-Encoding: chunked") + b"1\r\nx\r\n0\r\n\r\n" + NEXT)
        self.assertEqual((status_of(got), answers(got)), (413, 1))
        mired.until("the memory is given back", lambda: self.server.gauge("mire_http_bodies_bytes") == 0)

    def test_the_headers_are_judged_first(self):
        for key in ("mire_x", self.symbols):
            with self.server.connect() as sock:
                sock.sendall(self.head(key=key))
                self.assertIn(status_of(read_all(sock)), (401, 403))
        with self.server.connect() as sock:
            sock.sendall(self.head("Content-Encoding: lzma"))
            self.assertEqual(status_of(read_all(sock)), 415)
        for body in (b"", b"[", json.dumps({"mire": 1}).encode()):
            self.assertIn(status_of(self.answer(self.head("Connection: close") + chunks(body))), (400, 422))

    def test_chunks_that_drip_are_cut_off(self):
        before = self.server.gauge('mire_http_cut_total{reason="slow_body"}')
        with self.server.connect() as sock, contextlib.suppress(OSError):
            sock.sendall(self.head())
            for _ in range(300):
                sock.sendall(b"1;%s\r\n \r\n" % (b"x" * 20))
                time.sleep(0.1)
            self.fail("it went on for 30 s")
        self.assertEqual(self.server.gauge('mire_http_cut_total{reason="slow_body"}'), before + 1)


del Case

if __name__ == "__main__":
    unittest.main(warnings="ignore")
