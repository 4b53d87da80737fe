#!/usr/bin/python3
"""Tickets: a real mired makes them in trackers that answer as GitHub, GitLab, Jira and Linear do, each once whatever fails,
and follows what the trackers' webhooks tell.
"""

import contextlib
import hashlib
import hmac
import http.server
import json
import pathlib
import sys
import threading
import unittest
import urllib.parse

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from answers import answer_of  # noqa: E402
from mired import Mired, report, report_id, scratch, until  # noqa: E402

CHANGE = {"X_Mire_Change": "1", "Content_Type": "application/json"}
TEXT = {"title": "A hang of main", "body": "Waits for a lock.\n\n```\nmain  app\n```\n"}
TOKENS = {"github": "ghp_secret", "gitlab": "glpat-secret", "jira": "kim@example.com:secret", "linear": "lin_api_secret"}
PROJECTS = {"github": "acme/shop", "gitlab": "acme/shop", "jira": "SHOP", "linear": "9cfb482a-81e3-4154-b5b9-2c805e70a02d"}
HEADERS = {"github": "X_Hub_Signature_256", "gitlab": "X_Gitlab_Token", "jira": "X_Hub_Signature", "linear": "Linear_Signature"}


class Tracker:
    """A tracker of every kind. `behave` is called before a ticket is made with "make", and with "answer" when it is; it may
    return a status to answer with, or "cut" to break the connection."""

    def __init__(self):
        outer = self
        self.tickets, self.asked, self.behave, self.lock = [], [], lambda when: None, threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.respond(b"")

            def do_POST(self):
                self.respond(self.rfile.read(int(self.headers["Content-Length"])))

            def respond(self, raw):
                with outer.lock:
                    outer.asked.append({"method": self.command, "path": self.path, "headers": dict(self.headers), "raw": raw})
                status, answer = outer.respond(self.command, urllib.parse.urlsplit(self.path), json.loads(raw or b"null"))
                with contextlib.suppress(OSError):
                    if status == "cut":
                        self.connection.close()
                        return
                    data = json.dumps(answer).encode()
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def respond(self, method, url, body):
        query = dict(urllib.parse.parse_qsl(url.query))
        if url.path == "/repos/acme/shop/issues":
            return self.make(body, self.github) if method == "POST" else (200, self.page(query, self.github))
        if url.path.lower() == "/api/v4/projects/acme%2fshop/issues":
            found = [one for one in self.tickets if query.get("search", "") in one["body"]["description"]] if method == "GET" else []
            return self.make(body, self.gitlab) if method == "POST" else (200, [self.gitlab(one) for one in found])
        if url.path == "/rest/api/2/issue":
            return self.make(body["fields"], self.jira)
        if url.path == "/rest/api/2/search":
            label = query["jql"].removeprefix('labels = "').removesuffix('"')
            return 200, {"issues": [self.jira(one) for one in self.tickets if label in one["body"]["labels"]]}
        if url.path == "/graphql":
            return self.linear_answer(body)
        return 404, {"message": "Not Found"}

    def page(self, query, show):
        at, size = int(query["page"]) - 1, int(query["per_page"])
        return [show(one) for one in reversed(self.tickets)][at * size:(at + 1) * size]

    def make(self, body, show):
        if failed := self.behave("make"):
            return failed, {"message": "no"}
        with self.lock:
            number = len(self.tickets) + 1
            self.tickets.append({"number": number, "body": body})
        if failed := self.behave("answer"):
            return failed, {"message": "no"}
        return 201, show(self.tickets[number - 1])

    def github(self, one):
        return {"id": 7000 + one["number"], "number": one["number"], "html_url": f"{self.url}/acme/shop/issues/{one['number']}",
                "body": one["body"]["body"], "state": "open"}

    def gitlab(self, one):
        return {"id": 7000 + one["number"], "iid": one["number"], "web_url": f"{self.url}/acme/shop/-/issues/{one['number']}",
                "description": one["body"]["description"]}

    @staticmethod
    def jira(one):
        return {"id": str(7000 + one["number"]), "key": f"SHOP-{one['number']}", "self": "x"}

    def linear_answer(self, body):
        def show(one):
            return {"id": one["body"]["id"], "identifier": f"SHO-{one['number']}", "url": f"{self.url}/issue/SHO-{one['number']}"}
        if "ids" in body["variables"]:
            return 200, {"data": {"issues": {"nodes": [show(one) for one in self.tickets if one["body"]["id"] in body["variables"]["ids"]]}}}
        asked = body["variables"]["input"]
        if any(one["body"]["id"] == asked["id"] for one in self.tickets):
            return 200, {"errors": [{"message": "conflict on insert"}], "data": None}
        status, answer = self.make(asked, show)
        return (status, answer) if status != 201 else (200, {"data": {"issueCreate": {"success": True, "issue": answer}}})


class TicketsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = scratch("tickets")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.mired = Mired(pathlib.Path(cls.folder.name), "--alert-private-hooks=yes")
        cls.addClassCleanup(lambda: cls.mired.stop())

    def setUp(self):
        self.tracker = Tracker()
        self.addCleanup(self.tracker.stop)

    def prepare(self, app):
        """An issue of a new app."""
        self.app, self.key = app, self.mired.key(app, "ingest")
        until("the report is taken", lambda: self.mired.ask("POST", "/api/v1/reports", self.key, report(report_id()),
                                                            Content_Type="application/json")[0] == 202)
        self.issue = until("the issue is there", lambda: self.mired.issues(app))[0]["id"]

    def change(self, method, path, body=None, status=200):
        got, _, answer = self.mired.ask(method, f"/api/v1/apps/{self.app}{path}", None, body, **CHANGE)
        assert got == status, (method, path, got, answer)
        return json.loads(answer)

    def connect(self, kind, **more):
        address = self.tracker.url + ("/graphql" if kind == "linear" else "/")
        return self.change("PUT", "/tracker", {"kind": kind, "address": address, "project": PROJECTS[kind],
                                               "token": TOKENS[kind]} | more)

    def ask_for_ticket(self, **more):
        return self.change("POST", f"/issues/{self.issue}/ticket", TEXT | more)

    def answer(self):
        return answer_of(self.mired.ask("GET", f"/api/v1/apps/{self.app}/issues/{self.issue}")[2], "getIssue")

    def ticket(self):
        return self.answer()["ticket"]

    def made(self):
        return until("the ticket is made", lambda: self.ticket()["state"] == "open" and self.ticket())

    def due_now(self):
        self.mired.sql("UPDATE ticket SET due_at = now() WHERE state = 'waiting'")

    def call(self, kind, secret, body, status=200, signature=None):
        raw = json.dumps(body).encode()
        mac = hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()
        value = {"gitlab": secret, "linear": mac}.get(kind, "sha256=" + mac) if signature is None else signature
        got, _, answer = self.mired.ask("POST", f"/api/v1/apps/{self.app}/tracker/calls", None, raw, Content_Type="application/json",
                                        **{HEADERS[kind]: value})
        self.assertEqual(got, status, answer)

    def news(self, kind, closed, second):
        """What the tracker tells of the only ticket."""
        at = f"2040-01-01T00:00:{second:02}Z"
        if kind == "github":
            return {"action": "closed" if closed else "reopened", "issue": {"id": 7001, "number": 1, "updated_at": at}}
        if kind == "gitlab":
            return {"object_kind": "issue", "object_attributes": {"id": 7001, "iid": 1, "action": "close" if closed else "reopen",
                                                                  "updated_at": at.replace("T", " ").replace("Z", " UTC")}}
        if kind == "jira":
            return {"timestamp": (2208988800 + second) * 1000, "webhookEvent": "jira:issue_updated", "issue": {
                "id": "7001", "key": "SHOP-1", "fields": {"status": {"statusCategory": {"key": "done" if closed else "new"}}}}}
        return {"action": "update", "type": "Issue", "data": {"id": self.tracker.tickets[0]["body"]["id"], "updatedAt": at, "state": {
            "type": "completed" if closed else "started"}}}

    def state(self):
        return self.answer()["issue"]["state"]

    def one_kind(self, kind):
        self.prepare(kind)
        secret = self.connect(kind)["secret"]
        self.assertEqual(self.ask_for_ticket()["state"], "waiting")
        ticket = self.made()
        with self.subTest("the ticket"):
            self.assertEqual(ticket["name"], {"github": "#1", "gitlab": "#1", "jira": "SHOP-1", "linear": "SHO-1"}[kind])
            self.assertTrue(ticket["url"].startswith(self.tracker.url), ticket)
            self.assertEqual(ticket["fault"], "")
            (made,) = [one for one in self.tracker.asked if one["method"] == "POST"]
            want = {"github": "Bearer ghp_secret", "jira": "Basic a2ltQGV4YW1wbGUuY29tOnNlY3JldA==", "linear": "lin_api_secret"}
            self.assertEqual(made["headers"].get("Authorization"), want.get(kind))
            self.assertEqual(made["headers"].get("PRIVATE-TOKEN"), "glpat-secret" if kind == "gitlab" else None)
            self.assertIn("Waits for a lock.", made["raw"].decode())
        with self.subTest("a second question is answered by the same ticket"):
            self.assertEqual(self.ask_for_ticket(title="Again")["url"], ticket["url"])
            self.assertEqual(len(self.tracker.tickets), 1)
        with self.subTest("what the webhook tells"):
            self.call(kind, secret, self.news(kind, True, 1), 401, "sha256=" + "0" * 64)
            self.call(kind, "another", self.news(kind, True, 1), 401)
            self.assertEqual(self.mired.ask("POST", "/api/v1/apps/no-such/tracker/calls", None, {})[0], 401)
            self.call(kind, secret, {"action": "labeled"})
            self.assertEqual(self.state(), "open")
            self.call(kind, secret, self.news(kind, True, 3))
            self.assertEqual((self.state(), self.ticket()["state"]), ("resolved", "closed"))
            self.call(kind, secret, self.news(kind, False, 2))
            self.assertEqual(self.state(), "resolved", "an older call that came late")
            self.call(kind, secret, self.news(kind, False, 4))
            self.call(kind, secret, self.news(kind, False, 4))
            self.assertEqual((self.state(), self.ticket()["state"]), ("open", "open"))
            acts = json.loads(self.mired.ask("GET", f"/api/v1/apps/{self.app}/issues/{self.issue}/activity")[2])["acts"]
            self.assertEqual([(one["who"], one["after"]["state"]) for one in acts if one["kind"] == "state"],
                             [(f"{kind} {ticket['name']}", "open"), (f"{kind} {ticket['name']}", "resolved")])

    def test_github(self):
        self.one_kind("github")

    def test_gitlab(self):
        self.one_kind("gitlab")

    def test_jira(self):
        self.one_kind("jira")

    def test_linear(self):
        self.one_kind("linear")

    def test_never_twice(self):
        """Each fault leaves the ticket made and not marked; the next attempt finds it."""
        for kind in TOKENS:
            for fault in ("cut", 502, "kill"):
                with self.subTest(kind=kind, fault=fault):
                    self.tracker.stop()
                    self.tracker = Tracker()
                    self.prepare(f"twice-{kind}-{fault}")
                    self.connect(kind)
                    reached, go = threading.Event(), threading.Event()

                    def behave(when, fault=fault, reached=reached, go=go):
                        if when == "answer" and not reached.is_set():
                            reached.set()
                            go.wait(300)
                            return "cut" if fault == "kill" else fault

                    self.tracker.behave = behave
                    self.ask_for_ticket()
                    self.assertTrue(reached.wait(300))
                    if fault == "kill":
                        self.mired.kill()
                        go.set()
                        self.mired.start()
                    else:
                        go.set()
                        until("the attempt failed", lambda: self.ticket()["fault"] or self.ticket()["state"] == "open")
                    self.due_now()
                    self.assertTrue(self.made()["url"])
                    self.assertEqual(len(self.tracker.tickets), 1)

    def test_never_lost(self):
        self.prepare("lost")
        self.connect("github")
        said = iter([500, 403, "cut"])
        self.tracker.behave = lambda when: next(said, None) if when == "make" else None
        self.ask_for_ticket()
        until("the reason is shown", lambda: "answered 500" in self.ticket()["fault"] or self.ticket()["state"] == "open")
        until("it is made in the end", lambda: self.due_now() or self.ticket()["state"] == "open")
        self.assertEqual(len(self.tracker.tickets), 1)

    def test_it_is_found_behind_many_others(self):
        self.prepare("many")
        self.connect("github")
        cut = iter(["cut"])

        def behave(when):
            if when == "answer" and (how := next(cut, None)):
                self.tracker.tickets += [{"number": n, "body": {"body": "another"}} for n in range(2, 352)]
                return how

        self.tracker.behave = behave
        self.ask_for_ticket()
        until("the attempt failed", lambda: self.ticket()["fault"])
        self.due_now()
        self.assertEqual(self.made()["name"], "#1")
        self.assertEqual(len(self.tracker.tickets), 351)

    def test_given_up(self):
        self.prepare("given-up")
        self.connect("github")
        self.tracker.behave = lambda when: 503
        self.ask_for_ticket()
        until("the first attempt failed", lambda: self.ticket()["fault"])
        self.mired.sql("UPDATE ticket SET made_at = now() - interval '4 days', due_at = now() WHERE state = 'waiting'")
        until("it is given up", lambda: self.ticket()["state"] == "failed")
        self.assertIn("answered 503", self.ticket()["fault"])
        self.tracker.behave = lambda when: None
        self.ask_for_ticket()
        self.made()
        self.assertEqual(len(self.tracker.tickets), 1)

    def test_two_at_once(self):
        """Ten people ask at the same time."""
        self.prepare("at-once")
        self.connect("gitlab")
        threads = [threading.Thread(target=self.ask_for_ticket) for _ in range(10)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.made()
        self.assertEqual(self.mired.sql("SELECT count(*) FROM ticket JOIN app USING (app_id) WHERE slug = 'at-once'"), ["1"])
        self.assertEqual(len(self.tracker.tickets), 1)

    def test_settings(self):
        self.prepare("settings")
        self.change("POST", f"/issues/{self.issue}/ticket", TEXT, 409)
        good = {"kind": "github", "address": self.tracker.url, "project": "acme/shop", "token": "t"}
        for wrong in ({"kind": "trac"}, {"address": "ftp://x"}, {"address": "https://x/?q"}, {"address": "https://a:b@x"}, {"address": "https://x/\r\nHost: y"},
                      {"project": "../user"}, {"project": "acme"}, {"project": ""}, {"token": ""}, {"token": "a\r\nb: c"}):
            self.change("PUT", "/tracker", good | wrong, 422)
        secret = self.connect("github", closed_resolves=False, reopened_opens=False)["secret"]
        told = answer_of(self.mired.ask("GET", f"/api/v1/apps/{self.app}/tracker")[2], "getTracker")
        self.assertEqual((told["tracker"]["kind"], told["tracker"]["project"]), ("github", "acme/shop"))
        self.assertNotIn(TOKENS["github"], json.dumps(told))
        self.assertNotIn(secret, json.dumps(told))
        with self.subTest("the token is kept, and goes to no other host"):
            self.assertNotIn("secret", self.connect("github", token="", closed_resolves=False, reopened_opens=False))
            self.change("PUT", "/tracker", good | {"token": "", "address": "https://elsewhere.example"}, 422)
        with self.subTest("a secret that the tracker made"):
            self.change("PUT", "/tracker", good | {"secret": "short"}, 422)
            secret = "lin_wh_0123456789abcdef"
            self.assertNotIn("secret", self.connect("github", secret=secret, closed_resolves=False, reopened_opens=False))
        with self.subTest("the issue stays as it is where the settings say so"):
            self.ask_for_ticket()
            self.made()
            self.call("github", secret, self.news("github", True, 1))
            self.assertEqual((self.state(), self.ticket()["state"]), ("open", "closed"))
        with self.subTest("removed"):
            self.change("DELETE", "/tracker")
            self.change("DELETE", "/tracker", status=404)
            self.call("github", secret, self.news("github", False, 2), 401)
        actions = {row["action"] for row in self.mired.get(f"/apps/{self.app}/audit")["rows"]}
        self.assertLessEqual({"tracker.set", "tracker.removed", "ticket.asked"}, actions)
        self.assertNotIn(TOKENS["github"], json.dumps(self.mired.get(f"/apps/{self.app}/audit")))

    def test_the_command(self):
        self.prepare("command")
        token = pathlib.Path(self.folder.name) / "token"
        token.write_text(TOKENS["github"] + "\nnot this\n")

        def tickets(*words, **more):
            return self.mired.mire("tickets", *words, **more)

        self.assertIn("no tracker", tickets("show", self.app))
        self.assertIn("409", tickets("make", self.app, self.issue, code=1))
        out = tickets("set", self.app, "github", self.tracker.url, "acme/shop", "--token-file", token, "--reopening-changes-nothing")
        self.assertRegex(out, r"(?s)^github  acme/shop  http://127.*closing a ticket resolves its issue\nreopening one changes nothing\n"
                              r"secret of the webhook, shown once: [0-9a-f]{64}\n$")
        self.assertNotIn("secret", tickets("set", self.app, "github", self.tracker.url, "acme/shop"))
        self.assertIn("no ticket", tickets("of", self.app, self.issue))
        self.assertEqual(tickets("make", self.app, self.issue), "waiting\n")
        self.made()
        self.assertEqual(tickets("of", self.app, self.issue), f"open  #1  {self.tracker.url}/acme/shop/issues/1\n")
        self.assertEqual(tickets("make", self.app, self.issue), tickets("of", self.app, self.issue))
        (made,) = [one for one in self.tracker.asked if one["method"] == "POST"]
        title, text = json.loads(made["raw"])["title"], self.mired.mire("issue", self.issue)
        self.assertEqual(title, text.splitlines()[0].removeprefix("# ").replace("`", ""))
        self.assertIn(text.splitlines()[2], json.loads(made["raw"])["body"])
        self.assertEqual(made["headers"]["Authorization"], "Bearer " + TOKENS["github"])
        tickets("remove", self.app)
        self.assertIn("no tracker", tickets("show", self.app))
        self.assertIn("cannot read", tickets("set", self.app, "github", self.tracker.url, "a/b", "--token-file", "/none", code=1))
        self.assertIn("404", tickets("of", self.app, "I-99999999", code=1))

    def test_a_private_address_is_refused(self):
        with scratch("tickets-private") as folder:
            server = Mired(pathlib.Path(folder))
            self.addCleanup(server.stop)
            shared, self.mired = self.mired, server
            try:
                self.prepare("private")
                self.connect("github")
                self.ask_for_ticket()
                until("it is refused", lambda: "private" in self.ticket()["fault"])
                self.assertEqual(self.tracker.asked, [])
            finally:
                self.mired = shared


if __name__ == "__main__":
    unittest.main(warnings="ignore")
