#!/usr/bin/python3
"""Requests that wait for a change: told at once, held else, bounded in number, and never in the way of the server's end."""

import http.client
import json
import pathlib
import select
import socket
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from mired import Mired, report, report_id, scratch, until  # noqa: E402
from people import People  # noqa: E402

MOST = 1000  # MIRE_LIVE_MAX
EACH = 100  # MIRE_LIVE_EACH
HELD_S = 50


def event_of(text):
    fields = dict(line.split(": ", 1) for line in text.decode().splitlines() if line)
    return fields["id"], json.loads(fields["data"])


class Waiting:
    """A request that was sent and whose answer is read later."""

    def __init__(self, mired, seen, app="shop", **headers):
        self.connection = http.client.HTTPConnection("127.0.0.1", mired.port, timeout=300)
        self.connection.request("GET", f"/api/v1/apps/{app}/live?seen={seen}", headers=headers)
        self.answer = None
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        got = self.connection.getresponse()
        self.answer = got.status, got.headers, got.read()
        self.connection.close()

    def event(self):
        self.thread.join(300)
        status, headers, body = self.answer
        assert (status, headers["Content-Type"]) == (200, "text/event-stream"), self.answer
        return event_of(body)


def waiting_of(mired):
    metrics = mired.ask("GET", "/metrics")[2].decode()
    return int(metrics.split("\nmire_live_waiting ")[1].split("\n")[0])


class EachTest(unittest.TestCase):
    """One person does not take the places of all."""

    def setUp(self):
        folder = scratch("live")
        self.addCleanup(folder.cleanup)
        self.server = People(pathlib.Path(folder.name), "--address-connections-max=0", "--trusted-proxies=127.0.0.1")
        self.addCleanup(self.server.stop)
        self.key = self.server.key("shop", "read")
        self.root = self.server.use(self.server.user("add", "root", "--server-admin"))
        self.kim = self.server.use(self.server.user("add", "kim", "--role", "viewer"))
        self.sent = []
        self.addCleanup(lambda: [one.close() for one in self.sent])

    def send(self, header):
        one = socket.create_connection(("127.0.0.1", self.server.port))
        one.sendall(f"GET /api/v1/apps/shop/live?seen={self.id} HTTP/1.1\r\nHost: 127.0.0.1\r\n{header}\r\n\r\n".encode())
        self.sent.append(one)
        return one

    def refused(self, header):
        """One more than may wait: the first answer, unless the machine is so busy that the first have waited long enough by then."""
        for _ in range(5):
            crowd = [self.send(header) for _ in range(EACH + 1)]
            answer = select.select(crowd, [], [], 300)[0][0].recv(65536)
            if not answer.startswith(b"HTTP/1.1 200"):
                return answer.decode()
        self.fail("nothing was refused")

    def test_one_person_is_refused_and_others_wait(self):
        self.id, _ = event_of(self.server.ask_as(self.root, "GET", "/api/v1/apps/shop/live")[2])
        for header, others in ((f"Cookie: {self.root}", [f"Cookie: {self.kim}", f"Authorization: Bearer {self.key}"]),
                               (f"Authorization: Bearer {self.key}", [f"Cookie: {self.kim}"])):
            answer = self.refused(header)
            self.assertTrue(answer.startswith("HTTP/1.1 429 "), answer)
            self.assertIn("\r\nRetry-After: 60\r\n", answer)
            for other in others:
                before = waiting_of(self.server)
                one = self.send(other)
                until("another one waits", lambda: waiting_of(self.server) > before or select.select([one], [], [], 0)[0])
                if select.select([one], [], [], 0)[0]:
                    self.assertTrue(one.recv(65536).startswith(b"HTTP/1.1 200"))  # it has waited by now


class LiveTest(unittest.TestCase):
    def setUp(self):
        folder = scratch("live")
        self.addCleanup(folder.cleanup)
        self.mired = Mired(pathlib.Path(folder.name), "--connections-max=8192", "--address-connections-max=0")
        self.addCleanup(lambda: self.mired.process.poll() is None and self.mired.stop())
        self.key = self.mired.key("shop", "ingest")
        self.mired.key("other", "ingest")

    def now(self, app="shop"):
        status, _, body = self.mired.ask("GET", f"/api/v1/apps/{app}/live")
        self.assertEqual(status, 200, body)
        return event_of(body)

    def waiting(self):
        return waiting_of(self.mired)

    def send(self):
        document = json.loads(report(report_id()))
        document["event"]["begin_wall_ms"] = int(time.time() * 1000) - document["event"]["duration_ms"]
        status, _, body = self.mired.ask("POST", "/api/v1/reports", self.key, document, Content_Type="application/json")
        self.assertEqual(status, 202, body)

    def test_a_change_answers_those_who_wait_and_no_others(self):
        self.send()
        until("the report is counted", lambda: self.mired.issues("shop"))
        issue = self.mired.issues("shop")[0]["id"]
        (id, before), (other_id, _) = self.now(), self.now("other")
        one, two, other = Waiting(self.mired, id), Waiting(self.mired, id), Waiting(self.mired, other_id, "other")
        until("they wait", lambda: self.waiting() == 3)
        body = {"issues": [issue], "state": "resolved", "version": "", "reason": "tried"}
        status, _, answer = self.mired.ask("POST", "/api/v1/apps/shop/triage", None, body, X_Mire_Change="1", Content_Type="application/json")
        self.assertEqual(status, 200, answer)
        for each in (one, two):
            id, news = each.event()
            self.assertNotEqual(news["acts"], before["acts"])
            self.assertEqual(news["data"], before["data"])
        self.assertEqual(self.waiting(), 1)
        self.assertEqual(self.now()[0], id)
        again = Waiting(self.mired, "1.1.1", **{"Last-Event-ID": id})  # the header goes before the parameter
        until("it waits", lambda: self.waiting() == 2)
        self.send()
        self.assertNotEqual(again.event()[1]["data"], news["data"])
        other.connection.sock.shutdown(socket.SHUT_RDWR)  # a client that goes away is nobody's trouble
        other.thread.join(300)

    def test_an_id_of_before_is_answered_at_once_and_none_is_refused(self):
        id, _ = self.now()
        self.assertEqual(Waiting(self.mired, "0.0.0").event()[0], id)
        for wrong in ("", "1", "1.2", "1.2.3.4", "1.2.-3", "a.b.c", "99999999999999999999.1.1", "1.2.3%0a"):
            status, _, body = self.mired.ask("GET", f"/api/v1/apps/shop/live?seen={wrong}")
            self.assertEqual(status, 400, (wrong, body))
        self.assertEqual(self.mired.ask("GET", f"/api/v1/apps/none/live?seen={id}")[0], 404)

    def test_without_a_change_the_same_is_told_before_a_minute_is_over(self):
        id, news = self.now()
        begun = time.monotonic()
        self.assertEqual(Waiting(self.mired, id).event(), (id, news))
        self.assertGreaterEqual(time.monotonic() - begun, HELD_S)

    def test_too_many_are_refused_and_the_server_ends_although_many_wait(self):
        id, _ = self.now()
        crowd = []
        for _ in range(MOST):
            one = socket.create_connection(("127.0.0.1", self.mired.port))
            one.sendall(f"GET /api/v1/apps/shop/live?seen={id} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            crowd.append(one)
        begun = time.monotonic()
        until("all wait", lambda: self.waiting() == MOST or time.monotonic() - begun > HELD_S)
        if time.monotonic() - begun < HELD_S / 2:  # on a machine that is too busy the first are answered by now
            status, headers, body = self.mired.ask("GET", f"/api/v1/apps/shop/live?seen={id}")
            self.assertEqual((status, headers["Retry-After"]), (503, "60"), body)
        self.mired.stop()
        for one in crowd:
            one.settimeout(300)
            self.assertTrue(one.recv(65536).startswith(b"HTTP/1.1 200"))
            one.close()

    def test_a_request_waits_while_the_database_is_away(self):
        id, _ = self.now()
        one = Waiting(self.mired, id)
        until("it waits", lambda: self.waiting() == 1)
        self.mired.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
        self.mired.key("shop", "symbols")
        self.assertTrue(one.event()[0])


if __name__ == "__main__":
    unittest.main()
