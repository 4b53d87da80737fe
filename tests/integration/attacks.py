#!/usr/bin/env python3
"""mired against clients that mean harm: raw sockets from one machine, while an honest device goes on sending reports."""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import signal
import socket
import sys
import threading
import time
import unittest
import zlib

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402
from raw import Case, answers, head, read_all, status_of  # noqa: E402


class Bodies(Case):
    """Nobody without a right takes a byte of memory, and uploads leave reports their share."""

    settings = ("--bodies-max-mb=16", "--headers-s=2", "--idle-s=5")

    def announce(self, path, key, length, method="PUT"):
        lines = [f"Content-Length: {length}"] + ([f"Authorization: Bearer {key}"] if key else [])
        sock = self.server.connect()
        sock.sendall(head(method, path, *lines))
        return sock

    def test_an_upload_without_a_key_is_refused_by_its_headers(self):
        socks = [self.announce("/api/v1/symbols", None, 536870000) for _ in range(8)]
        self.honest()
        for sock in socks:
            with sock:
                self.assertEqual(status_of(read_all(sock)), 401)
        self.assertEqual(self.server.gauge("mire_http_bodies_bytes"), 0)

    def test_every_route_that_takes_a_body_asks_for_the_key_first(self):
        text = (mired.SOURCE / "schema/api/openapi.yaml").read_text()
        routes = [(path, method.upper()) for path, rest in re.findall(r"^  (/\S+):\n((?:    .*\n|\n)+)", text, re.M)
                  for method in re.findall(r"^    (put|post):", rest, re.M)]
        self.assertGreater(len(routes), 10)
        for path, method in routes:
            path = re.sub(r"\{[^}]*\}", "x", path)
            with self.subTest(path=path), self.announce(path, None, 5000, method) as sock:
                # A change that people make in the dashboard needs no key, but a header of its own.
                self.assertIn(status_of(read_all(sock)), (401, 403))
            wrong = self.symbols[:-1] + ("b" if self.symbols.endswith("a") else "a")
            with self.subTest(path=path, key="wrong"), self.announce(path, wrong, 5000, method) as sock:
                self.assertEqual(status_of(read_all(sock)), 401)

    def test_uploads_that_only_announce_take_no_memory(self):
        socks = [self.announce("/api/v1/symbols", self.symbols, 16 << 20) for _ in range(40)]
        self.honest()
        self.assertEqual(self.server.gauge("mire_http_bodies_bytes"), 0)
        for sock in socks:
            sock.close()

    def test_uploads_leave_reports_their_reserve(self):
        # Each holds 4 MiB, three of them the 12 that uploads may take, and goes on slowly enough not to end.
        socks = [self.announce("/api/v1/symbols", self.symbols, 8 << 20) for _ in range(3)]
        stop = threading.Event()

        def feed(sock):
            with contextlib.suppress(OSError):
                sock.sendall(bytes((4 << 20) - 200000))
                while not stop.wait(0.2):
                    sock.sendall(bytes(1024))

        feeders = [threading.Thread(target=feed, args=(sock,)) for sock in socks]
        for feeder in feeders:
            feeder.start()
        try:
            mired.until("uploads take all they may", lambda: self.server.gauge("mire_http_bodies_bytes") == 12 << 20)
            with self.announce("/api/v1/symbols", self.symbols, 8 << 20) as sock:
                with contextlib.suppress(OSError):
                    sock.sendall(bytes(1 << 20))
                self.assertEqual(status_of(read_all(sock)), 503)
            large = mired.report(mired.report_id(), more=2 << 20)
            self.honest()
            self.assertEqual(self.server.ask("POST", "/api/v1/reports", self.key, large)[0], 202)
        finally:
            stop.set()
            for feeder in feeders:
                feeder.join()
            for sock in socks:
                sock.close()

    def test_a_body_that_drips_is_cut_off(self):
        for path, key, method in (("/api/v1/symbols", self.symbols, "PUT"), ("/api/v1/reports", self.key, "POST")):
            before = self.server.gauge('mire_http_cut_total{reason="slow_body"}')
            with self.announce(path, key, 60000, method) as sock:
                with contextlib.suppress(OSError):
                    for _ in range(300):
                        sock.sendall(b" " * 20)
                        time.sleep(0.1)
                    self.fail("it went on for 30 s")
            self.assertEqual(self.server.gauge('mire_http_cut_total{reason="slow_body"}'), before + 1)


class Bombs(Case):
    """Bodies that are small on the wire and large behind it, or long to read."""

    def test_a_body_becomes_so_many_times_its_size_and_no_more(self):
        report = mired.report(mired.report_id())
        for more, expected in ((1 << 19, 202), (4 << 20, 413), (15 << 20, 413), (1 << 28, 413)):
            packer = zlib.compressobj(9, zlib.DEFLATED, 31)
            packed = packer.compress(report) + b"".join(packer.compress(bytes([32]) * (1 << 19)) for _ in range(more >> 19)) + packer.flush()
            got = self.server.ask("POST", "/api/v1/reports", self.key, packed, Content_Encoding="gzip")
            self.assertEqual(got[0], expected, (more, len(packed), got[2]))

    def test_bodies_that_are_long_to_read_keep_no_network_thread(self):
        taken, stop = [], threading.Event()

        def flood():
            while not stop.is_set():
                document = json.loads(mired.report(mired.report_id())) | {"more": [0] * 900000}
                taken.append(self.server.ask("POST", "/api/v1/reports", self.key, json.dumps(document, separators=(",", ":")).encode())[0])

        threads = [threading.Thread(target=flood) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            mired.until("they are taken", lambda: len(taken) > 8)
            self.honest(20)
            self.assertEqual(self.server.ask("GET", "/healthz")[0], 200)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(set(taken), {202})


class Crowd(Case):
    """More connections than there are places, from one address; an honest device comes and goes among them."""

    settings = ("--connections-max=256", "--address-connections-max=0", "--headers-s=3", "--idle-s=60")

    def test_headers_that_trickle_keep_nobody_out(self):
        socks, stop = [], threading.Event()

        def trickle():
            while not stop.wait(0.05):
                again = 10  # come again each time: that many connections a second are a small part of the places
                for at, sock in enumerate(list(socks)):
                    try:
                        sock.sendall(b"a")
                    except OSError:
                        if (again := again - 1) < 0:
                            continue
                        sock.close()
                        with contextlib.suppress(OSError):
                            socks[at] = self.server.connect()
                            socks[at].sendall(b"POST /api/v1/reports HTTP/1.1\r\nX-Long: ")

        for _ in range(600):
            socks.append(self.server.connect())
            socks[-1].sendall(b"POST /api/v1/reports HTTP/1.1\r\nX-Long: ")
        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            end = time.monotonic() + 8
            while time.monotonic() < end:
                self.honest()
        finally:
            stop.set()
            thread.join()
            for sock in socks:
                sock.close()
        self.assertGreater(self.server.gauge('mire_http_cut_total{reason="full"}'), 100)
        self.assertLessEqual(self.server.gauge("mire_http_connections"), 256)
        self.assertTrue(any('why="full"' in line for line in self.server.logged("http.cut")))

    def test_who_comes_last_in_a_rush_is_served(self):
        for _ in range(5):  # more come at once than the network threads have places and get to
            self.server.process.send_signal(signal.SIGSTOP)
            socks = [self.server.connect() for _ in range(600)]
            with self.server.connect() as last:
                last.sendall(head("GET", "/healthz", "Connection: close"))
                self.server.process.send_signal(signal.SIGCONT)
                self.assertEqual(status_of(read_all(last, 60)), 200)
            for sock in socks:
                sock.close()

    def test_headers_are_there_in_time_or_never(self):
        before = self.server.gauge('mire_http_cut_total{reason="slow_headers"}')
        begun = time.monotonic()
        with self.server.connect() as sock:
            with contextlib.suppress(OSError):
                sock.sendall(b"GET / HTTP/1.1\r\nX: ")
                while time.monotonic() - begun < 30:
                    sock.sendall(b"a")
                    time.sleep(0.1)
                self.fail("it went on for 30 s")
        self.assertGreater(self.server.gauge('mire_http_cut_total{reason="slow_headers"}'), before)

    def test_clients_that_do_not_take_their_answer_are_cut_off(self):
        before = self.server.gauge('mire_http_cut_total{reason="slow_answer"}')
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.connect(("127.0.0.1", self.server.port))
            with contextlib.suppress(OSError):
                for _ in range(20000):
                    sock.settimeout(0.5)
                    sock.sendall(head("GET", "/metrics"))
            mired.until("it is cut off", lambda: self.server.gauge('mire_http_cut_total{reason="slow_answer"}') > before)


class Addresses(Case):
    settings = ("--address-connections-max=20",)

    def test_one_address_has_so_many_connections(self):
        socks = [self.server.connect() for _ in range(40)]
        closed = set()

        def look():
            for sock in set(socks) - closed:
                sock.settimeout(0.01)
                try:
                    if sock.recv(1) == b"":
                        closed.add(sock)
                except ConnectionResetError:
                    closed.add(sock)
                except TimeoutError:
                    pass
            return len(closed)

        mired.until("all but 20, or two that had come before, are closed", lambda: look() >= 18)
        self.assertLessEqual(look(), 21)
        for sock in socks:
            sock.close()
        mired.until("there is room again", lambda: self.server.report(self.key) == 202)
        self.assertTrue(any('why="address"' in line and "127.0.0.1" in line for line in self.server.logged("http.cut")))


class Proxies(Case):
    settings = ("--address-connections-max=20", "--trusted-proxies=127.0.0.1", "--address-requests-s=1")

    def test_a_proxy_has_no_such_limit_and_names_its_clients(self):
        socks = [self.server.connect() for _ in range(100)]
        for sock in socks:
            sock.sendall(head("GET", "/healthz", "Connection: close"))
        self.assertEqual({status_of(read_all(sock)) for sock in socks}, {200})

        def send(client):
            return self.server.ask("POST", "/api/v1/reports", self.key, mired.report(mired.report_id()),
                                   X_Forwarded_For=client)

        statuses = [send("198.51.100.7, 127.0.0.1") for _ in range(15)]
        self.assertEqual([answer[0] for answer in statuses[:10]], [202] * 10)
        status, headers, body = statuses[-1]
        self.assertEqual(status, 429)
        self.assertGreaterEqual(int(headers["Retry-After"]), 1)
        self.assertIn(b"address", body)
        self.assertEqual(send("198.51.100.8")[0], 202)
        # What a client claims of itself counts for nothing: the proxy's own entry is the last one, in a line of its own too.
        self.assertEqual(send("203.0.113.9, 198.51.100.7")[0], 429)
        body = mired.report(mired.report_id())
        with self.server.connect() as sock:
            sock.sendall(head("POST", "/api/v1/reports", f"Authorization: Bearer {self.key}", "X-Forwarded-For: 203.0.113.10",
                              "X-Forwarded-For: 198.51.100.7", f"Content-Length: {len(body)}", "Connection: close") + body)
            self.assertEqual(status_of(read_all(sock)), 429)


class Descriptors(Case):
    settings, files = ("--connections-max=600",), (256, 900)

    def test_the_soft_limit_is_raised_and_fewer_are_served_where_it_cannot_be(self):
        limits = pathlib.Path(f"/proc/{self.server.process.pid}/limits").read_text()
        self.assertRegex(limits, r"Max open files +900 +900 ")
        self.assertEqual(self.server.gauge("mire_http_connections_max"), 900 - 512)
        self.assertIn("hard_limit=900", self.server.logged("mired.few_descriptors")[0])
        socks = [self.server.connect() for _ in range(600)]
        mired.until("a device that tries again is served", self.is_served)  # newcomers are turned away while so many arrive
        self.honest()
        for sock in socks:
            sock.close()


LINE = b"GET /healthz HTTP/1.1\r\n"
NAME = b"Host: localhost\r\n"
NEXT = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
MALFORMED = {
    "two lengths that differ": LINE + NAME + b"Content-Length: 0\r\nContent-Length: 5\r\n\r\n",
    "one length twice": LINE + NAME + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
    "a list of lengths": LINE + NAME + b"Content-Length: 0, 0\r\n\r\n",
    "a length and chunks": LINE + NAME + b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a length with a sign": LINE + NAME + b"Content-Length: +0\r\n\r\n",
    "no host": LINE + b"\r\n",
    "two hosts": LINE + NAME + NAME + b"\r\n",
    "a port that is none": LINE + b"Host: localhost:80:80\r\n\r\n",
    "a port of letters": LINE + b"Host: localhost:x\r\n\r\n",
    "two credentials": LINE + NAME + b"Authorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n",
    "two origins": LINE + NAME + b"Origin: http://localhost\r\nOrigin: http://a.example\r\n\r\n",
    "a part of a page": b"GET /healthz#x HTTP/1.1\r\n" + NAME + b"\r\n",
    "a NUL in a value": LINE + NAME + b"X: a\0b\r\n\r\n",
    "a NUL in the target": b"GET /a\0b HTTP/1.1\r\n" + NAME + b"\r\n",
    "bare LF": b"GET /healthz HTTP/1.1\nHost: localhost\n\n",
    "one bare LF": LINE + b"Host: localhost\nX: y\r\n\r\n",
    "bare CR": LINE + b"Host: localhost\rX: y\r\n\r\n",
    "a folded header": LINE + NAME + b"X: a\r\n b\r\n\r\n",
    "a space before the colon": LINE + NAME + b"Content-Length : 0\r\n\r\n",
    "HTTP/1.2": b"GET /healthz HTTP/1.2\r\n" + NAME + b"\r\n",
    "no version": b"GET /healthz\r\n\r\n",
}


class Malformed(Case):
    def answer(self, raw):
        with self.server.connect() as sock:
            sock.sendall(raw)
            return read_all(sock)

    def test_what_two_readers_could_understand_differently_is_400_and_the_end(self):
        for what, raw in MALFORMED.items():
            with self.subTest(what):
                got = self.answer(raw + NEXT)
                self.assertEqual(status_of(got), 400, got[:200])
                self.assertEqual(answers(got), 1, "the rest was taken for a second request")
                self.assertIn(b"\r\nConnection: close\r\n", got)

    def test_the_65th_header_is_431_and_the_end(self):
        fits = self.answer(LINE + NAME + b"X: y\r\n" * 62 + b"Connection: close\r\n\r\n")
        self.assertEqual(status_of(fits), 200)
        got = self.answer(LINE + NAME + b"X: y\r\n" * 64 + b"\r\n" + NEXT)
        self.assertEqual((status_of(got), answers(got)), (431, 1))
        got = self.answer(LINE + NAME + b"X: " + b"y" * 40000 + b"\r\n\r\n" + NEXT)
        self.assertEqual((status_of(got), answers(got)), (431, 1))

    def test_a_request_in_single_bytes_is_the_same_request(self):
        with self.server.connect() as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in head("GET", "/healthz", "Connection: close"):
                sock.send(bytes([byte]))
            self.assertEqual(status_of(read_all(sock)), 200)


class Origins(Case):
    settings = ("--public-url=https://mire.example.com", "--sign-in=no", f"--web-dir={os.environ['MIRE_SOURCE_DIR']}/web")

    def ask(self, method, path, *lines, host="localhost", body=b""):
        with self.server.connect() as sock:
            more = [f"Content-Length: {len(body)}", "Content-Type: application/json"] if method != "GET" else []
            text = "\r\n".join((f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close", *lines, *more))
            sock.sendall(text.encode() + b"\r\n\r\n" + body)
            return status_of(read_all(sock))

    def test_a_name_that_is_not_ours_reads_nothing(self):
        for host in ("attacker.example", f"attacker.example:{self.server.port}", "localhost.attacker.example"):
            for path in ("/api/v1/apps", "/", "/metrics", "/healthz", "/api/v1/apps/shop/issues"):
                self.assertEqual(self.ask("GET", path, host=host), 421, (host, path))
        for host in ("localhost", "127.0.0.1", "[::1]:80", "mire.example.com", "MIRE.example.com:443"):
            self.assertEqual(self.ask("GET", "/api/v1/apps", host=host), 200, host)

    def test_a_page_of_another_origin_changes_nothing(self):
        path = "/api/v1/apps/shop/issues/I-1/merge"
        body = json.dumps({"author": "eve", "reason": "x", "issues": ["I-2"]}).encode()
        foreign = (("Sec-Fetch-Site: cross-site",), ("Sec-Fetch-Site: same-site",), ("Origin: https://attacker.example",),
                   ("Origin: null",), ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"))
        for lines in foreign:
            self.assertEqual(self.ask("POST", path, "X-Mire-Change: 1", *lines, body=body), 403, lines)
        self.assertEqual(self.ask("POST", path, body=body), 403)
        self.assertIn(self.ask("POST", path, "X-Mire-Change: 1", body=body), (404, 422))  # there is no such issue
        self.assertIn(self.ask("POST", path, "X-Mire-Change: 1", "Sec-Fetch-Site: same-origin",
                               "Origin: https://mire.example.com", host="mire.example.com", body=body), (404, 422))
        self.assertEqual(self.ask("GET", "/api/v1/apps", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"), 403)
        self.assertEqual(self.ask("GET", "/shop", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"), 200)


class Accounts(Case):
    OUTCOMES = ("stored", "duplicate", "queue_full", "store_failed", "body_refused")

    def counts(self):
        return {name: self.server.gauge(f'mire_ingest_reports_total{{outcome="{name}"}}') for name in self.OUTCOMES}

    def test_every_report_is_counted_once_by_what_became_of_it(self):
        before, stored = self.counts(), int(self.server.sql("SELECT count(*) FROM report")[0])
        ids = [mired.report_id() for _ in range(40)]
        answered = 0
        for body in [mired.report(one) for one in ids] + [mired.report(one) for one in ids[:15]] + [b"{", b'{"mire":1}'] * 4:
            answered += self.server.ask("POST", "/api/v1/reports", self.key, body)[0] in (202, 400, 422)
        for cut in range(10):  # the report is sent, and the answer not waited for; or a part of it is sent
            body = mired.report(mired.report_id())
            with self.server.connect() as sock:
                sock.sendall(head("POST", "/api/v1/reports", f"Authorization: Bearer {self.key}", f"Content-Length: {len(body)}"))
                sock.sendall(body if cut % 2 else body[:-1])
        mired.until("all are counted", lambda: sum(self.counts().values()) >= sum(before.values()) + answered + 5)
        time.sleep(0.5)
        now, kept = self.counts(), int(self.server.sql("SELECT count(*) FROM report")[0])
        got = {name: now[name] - before[name] for name in self.OUTCOMES}
        self.assertEqual(got, {"stored": 45, "duplicate": 15, "queue_full": 0, "store_failed": 0, "body_refused": 8})
        self.assertEqual(kept - stored, 45)


PIECE = 1 << 20  # bytes, of a file in parts


def blake2b(body):
    return hashlib.blake2b(body, digest_size=32).hexdigest()


class Files(Case):
    """An app sees the debug files that it sent, and no other app's; damaged contents replace no whole ones."""

    def send(self, key, contents, name):
        return self.server.ask("PUT", f"/api/v1/symbols?name={name}", key, contents, Content_Type="application/octet-stream")

    def seen(self, app):
        return {one["name"]: one for one in self.server.get(f"/apps/{app}/symbols")["files"]}

    def test_files_are_seen_by_the_app_that_sent_them(self):
        other = self.server.key("other", "symbols")
        mired.until("the key is known", lambda: self.server.ask("GET", "/api/v1/apps/other/symbols", other)[0] == 200)
        whole = (mired.BINARY / "server/mire").read_bytes()
        self.assertEqual(self.send(self.symbols, whole, "ours")[0], 201)
        self.assertEqual((set(self.seen("shop")), set(self.seen("other"))), ({"ours"}, set()))
        hash = self.server.sql("SELECT encode(hash, 'hex') FROM symbol_file")[0]
        # The same contents: stored once, and seen by both.
        self.assertEqual(self.send(other, whole, "same")[0], 201)
        self.assertEqual((set(self.seen("shop")), set(self.seen("other"))), ({"ours"}, {"same"}))
        self.assertEqual(self.server.sql("SELECT count(DISTINCT hash), count(*) FROM symbol_chunk WHERE part = 0"), ["1|1"])
        # Other contents of one build id replace those of the app that sent them, and of no other.
        self.assertEqual(self.send(other, whole + bytes(16), "theirs")[0], 201)
        self.assertEqual((set(self.seen("shop")), set(self.seen("other"))), ({"ours"}, {"theirs"}))
        # Damaged ones do not: the app's whole ones stay, and it is told.
        at = len(whole) * 3 // 4
        status, _, body = self.send(self.symbols, whole[:at] + bytes(1 << 16) + whole[at + (1 << 16):], "damaged")
        if status == 201 and json.loads(body)["files"][0]["defect"]:
            self.assertIn("whole", json.loads(body)["files"][0]["instead"])
            self.assertTrue(self.seen("shop")["ours"]["second"])
        self.assertEqual(self.server.sql("SELECT encode(hash, 'hex') FROM symbol_file WHERE app_id = 1")[0], hash)

    def test_uploads_in_parts_are_their_apps(self):
        other = self.server.key("parts", "symbols")
        mired.until("the key is known", lambda: self.server.ask("GET", "/api/v1/apps/parts/symbols", other)[0] == 200)
        whole = (mired.BINARY / "server/mire").read_bytes() + b"parts"
        path = f"/api/v1/symbols/uploads/{blake2b(whole)}"

        def part(key, body, at, size=len(whole)):
            return self.server.ask("PUT", f"{path}?at={at}&size={size}&sum={blake2b(body)}&name=x", key, body, Content_Type="application/octet-stream")[0]

        def have(key):
            return json.loads(self.server.ask("GET", path, key)[2])["have_bytes"]

        # A stranger who knows the hash neither sees the upload, nor spoils it, nor ends it for an app of his own.
        self.assertEqual((part(other, bytes(PIECE), 0, 3 * PIECE), have(self.symbols)), (202, 0))
        self.assertEqual((part(self.symbols, whole[:PIECE], 0), have(self.symbols), have(other)), (202, PIECE, PIECE))
        self.assertEqual(part(other, bytes(PIECE), PIECE, 3 * PIECE), 202)
        self.assertEqual(have(self.symbols), PIECE)
        self.assertEqual(part(other, b"", len(whole)), 409)
        self.assertEqual(part(self.symbols, whole[PIECE:], PIECE), 201)
        self.assertEqual((have(self.symbols), have(other)), (0, 2 * PIECE))
        self.assertNotIn("x", self.seen("parts"))

    def test_what_an_app_lacks_is_asked_of_no_other(self):
        other = self.server.key("asked", "symbols")
        mired.until("the key is known", lambda: self.server.ask("GET", "/api/v1/apps/asked/symbols", other)[0] == 200)
        whole = (mired.BINARY / "server/mired").read_bytes()
        status, _, body = self.send(self.symbols, whole, "mired")
        self.assertEqual(status, 201)
        ask = {"files": [{"build_id": json.loads(body)["files"][0]["build_id"], "kind": json.loads(body)["files"][0]["kind"]}]}
        for key, lacks in ((self.symbols, False), (other, True)):
            status, _, body = self.server.ask("POST", "/api/v1/symbols/missing", key, ask, Content_Type="application/json")
            self.assertEqual((status, json.loads(body)["files"][0]["missing"]), (200, lacks))


class Turns(Case):
    def test_a_flood_of_one_app_does_not_keep_another_waiting(self):
        other = self.server.key("other", "ingest")
        mired.until("the key is known", lambda: self.server.report(other) == 202)
        mired.until("it is worked on", lambda: self.server.sql("SELECT count(*) FROM inbox") == ["0"])
        # 20,000 reports of one app, put where the door puts them, oldest first.
        self.server.sql("INSERT INTO report (slot, day, report_id, app_id, format, encoding, body) SELECT 1, current_date,"
                        " gen_random_uuid(), app_id, format, encoding, body FROM generate_series(1, 20000),"
                        " (SELECT * FROM report LIMIT 1) r")
        self.server.sql("INSERT INTO inbox (slot, day, report_id, app_id, not_before) SELECT slot, day, report_id, 1,"
                        " now() - interval '1 hour' FROM report WHERE NOT EXISTS (SELECT FROM event e WHERE"
                        " e.report_id = report.report_id)")
        seen = int(self.server.sql("SELECT count(*) FROM event WHERE app_id = 2")[0])
        self.assertEqual(self.server.report(other), 202)
        mired.until("its report is on its page", lambda: int(self.server.sql(
            "SELECT count(*) FROM event WHERE app_id = 2")[0]) > seen)
        self.assertGreater(int(self.server.sql("SELECT count(*) FROM inbox WHERE app_id = 1")[0]), 10000)


class Expensive(Case):
    """Queries that the database does not answer soon, made so by a lock on the table of rollups that all of them read."""

    settings = (f"--web-dir={os.environ['MIRE_SOURCE_DIR']}/web",)
    cheap = ("/healthz", "/", "/api/v1/apps/shop/members", "/api/v1/apps/shop/settings", "/api/v1/sign-in")

    def read(self, span):
        return self.server.ask("GET", f"/api/v1/apps/shop/issues?t={span}")

    def test_expensive_queries_wait_for_each_other_only(self):
        self.assertEqual(self.read("3650d")[0], 200)
        said = []
        asking = [threading.Thread(target=lambda span=span: said.append(self.read(span))) for span in 32 * ["3650d"] + 8 * ["24h"]]
        with self.server.locked("rollup"):
            for thread in asking[:32]:
                thread.start()
            mired.until("wide ones wait for the database", lambda: self.server.waiting_for("rollup"))
            for path in self.cheap:
                self.assertEqual(self.server.ask("GET", path)[0], 200, path)
            self.honest(20)
            self.assertEqual(said, [], "they were to be answered later")
            # Short ranges that turn out to be expensive go the same way, and leave their threads to others.
            for thread in asking[32:]:
                thread.start()
            time.sleep(0.2)
            for path in self.cheap:
                self.assertEqual(self.server.ask("GET", path)[0], 200, path)
            # The database gives up the first ones, and nobody waits for ever behind them.
            for thread in asking:
                thread.join()
            self.assertEqual({answer[0] for answer in said}, {503})
            self.assertTrue(all(answer[1]["Retry-After"] for answer in said))
            self.assertIn(b"expensive queries", b"".join(answer[2] for answer in said))
            self.assertGreater(self.server.gauge("mire_http_expensive_given_up_total"), 20)
        self.assertEqual(self.read("3650d")[0], 200)
        self.assertEqual(self.read("24h")[0], 200)


class Frozen(Case):
    def tree(self, pid):
        """A process and all below it."""
        found = [pid]
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += self.tree(int(child))
        return found

    def test_a_database_that_is_stopped_holds_nobody(self):
        postmaster = int((self.server.data / "postgres/postmaster.pid").read_text().split()[0])
        stopped = self.tree(postmaster)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            mired.until("health says so", lambda: b"takes connections" in self.server.ask("GET", "/healthz")[2], 20)
            for _ in range(10):
                begun = time.monotonic()
                status, headers, _ = self.server.ask("POST", "/api/v1/reports", self.key, mired.report(mired.report_id()))
                self.assertEqual(status, 503)
                self.assertTrue(headers["Retry-After"])
                self.assertEqual(self.server.ask("GET", "/api/v1/apps")[0], 503)
                self.assertEqual(self.server.ask("GET", "/healthz")[0], 503)
                self.assertLess(time.monotonic() - begun, 30)  # two seconds each; the database stays stopped for ever
        finally:
            for pid in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
        mired.until("reports are taken again", lambda: self.server.report(self.key) == 202)


class Logs(Case):
    def test_a_crowd_of_bad_requests_does_not_fill_the_disk(self):
        before = self.server.log.stat().st_size
        path = "/api/v1/" + "x" * 7800
        with self.server.connect() as sock:
            reader = threading.Thread(target=lambda: read_all(sock, 60))
            reader.start()
            for _ in range(3000):
                sock.sendall(head("GET", path))
            sock.sendall(head("GET", path, "Connection: close"))
            reader.join()
        lines = self.server.logged("http.answered")
        self.assertTrue(lines)
        self.assertLess(max(map(len, lines)), 600)
        self.assertLess(self.server.log.stat().st_size - before, 1 << 20)

        def logged():
            self.server.ask("GET", "/api/v1/nowhere")  # after a second a line says how many were not logged
            skipped = [int(count) for count in re.findall(r"not_logged=(\d+)", self.server.log.read_text())]
            return sum(skipped) + len(lines)

        mired.until("every request is counted", lambda: logged() >= 3001)


del Case

if __name__ == "__main__":
    unittest.main(warnings="ignore")
