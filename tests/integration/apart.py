#!/usr/bin/env python3
"""Nothing of one app is seen, or changed, from another: every route with the ids of the other app's things."""

import json
import pathlib
import re
import subprocess
import sys
import unittest
import uuid

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402
from cases import Served  # noqa: E402

EVENT = json.loads((mired.SOURCE / "schema/wire/vectors/valid/samples-at-one-instant/report.json").read_text())
MARK = "alphasecret"  # in every text of alpha's, but for the module of a build id, which names itself in both


class Apart(Served):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.keys = {(app, scope): cls.server.key(app, scope) for app in ("alpha", "beta")
                    for scope in ("ingest", "symbols", "rollout", "rules", "read", "admin")}
        mired.until("the keys are known", lambda: cls.server.ask("GET", "/api/v1/apps", cls.keys["beta", "admin"])[0] == 200)
        cls.build_id = cls.program()
        cls.report = cls.send("alpha")
        cls.send("alpha")
        cls.send("beta")
        cls.upload()
        cls.fill()

    @classmethod
    def program(cls):
        """A program of both apps, whose debug file alpha has."""
        source = cls.folder / "shared.c"
        source.write_text("int work(int n) { return n * n; }\nint main(int c, char **v) { (void)v; return work(c) - 1; }\n")
        cls.debug = cls.folder / "shared.debug"
        subprocess.run(["gcc", "-g", "-O0", "-Wl,--build-id", source, "-o", cls.debug], check=True)
        notes = subprocess.run(["readelf", "-n", cls.debug], capture_output=True, text=True, check=True).stdout
        return re.search(r"Build ID: ([0-9a-f]+)", notes)[1]

    @classmethod
    def send(cls, app):
        document = json.loads(json.dumps(EVENT)) | {"id": mired.report_id()}
        name = MARK if app == "alpha" else "plain"
        document["device"]["install"] = uuid.uuid4().hex
        document["app"]["version"] = f"1.0-{name}"
        document["process"]["name"] = name
        document["images"][0] |= {"id": cls.build_id, "name": "/usr/bin/shared"}
        status, _, body = cls.server.ask("POST", "/api/v1/reports", cls.keys[app, "ingest"], document)
        assert status == 202, body
        mired.until("it is worked on", lambda: cls.server.sql("SELECT count(*) FROM inbox") == ["0"])
        return document["id"]

    @classmethod
    def ask(cls, method, path, app="beta", scope="admin", body=None):
        status, _, text = cls.server.ask(method, path, cls.keys[app, scope], body, Content_Type="application/json")
        return status, text.decode()

    @classmethod
    def made(cls, path, body, app="alpha", method="POST"):
        status, text = cls.ask(method, f"/api/v1/apps/{app}{path}", app, body=body)
        assert status in (200, 201, 202), (path, status, text)
        return json.loads(text)

    @classmethod
    def upload(cls):
        cls.server.mire("symbols", "upload", "--key", cls.keys["alpha", "symbols"], cls.debug)
        mired.until("reports are derived anew", lambda: cls.server.sql(
            "SELECT count(*) FROM rekey_job WHERE cause = 'symbols' AND state = 'done'") == ["1"])

    @classmethod
    def fill(cls):
        """Something of every kind in alpha."""
        issues = json.loads(cls.ask("GET", "/api/v1/apps/alpha/issues", "alpha")[1])["groups"]
        cls.issue = issues[0]["issues"][0]["id"]
        cls.key = json.loads(cls.ask("GET", "/api/v1/apps/alpha/keys", "alpha")[1])["keys"][0]["id"]
        cls.comment = cls.made(f"/issues/{cls.issue}/comments", {"text": MARK})
        cls.made("/triage", {"issues": [cls.issue], "state": "resolved", "reason": MARK})
        cls.channel = cls.made("/alerts/channels", {"name": MARK, "kind": "webhook", "target": "https://example.com/" + MARK})
        cls.made("/rekey", {"preview": True, "detail": MARK})
        cls.rules_job = cls.made("/rules/preview", {"rules": f"lock * {MARK}\n"})
        cls.made("/forget", {"install": uuid.uuid4().hex, "reason": MARK, "preview": False})

    def assert_nothing(self, status, text, what, allowed):
        self.assertIn(status, allowed, (what, text[:300]))
        self.assertNotIn(MARK, text, what)

    def routes(self):
        """Method and path of every route, from the table."""
        text = (mired.SOURCE / "server/src/api/routes.c").read_text()
        names = {"API": "/api/v1", "APP": "/api/v1/apps/{app}", "ISSUE": "/api/v1/apps/{app}/issues/{issue}"}
        found = []
        for method, parts in re.findall(r"^    (GET|PUT|POST|DELETE)\(\w+, ([^,]+),", text, re.M):
            path = "".join(names.get(part) or part.strip('"') for part in re.findall(r'"[^"]*"|\w+', parts))
            found.append((method, path))
        self.assertGreater(len(found), 90)
        return found

    def ids(self):
        return {"issue": self.issue, "report": self.report, "key": self.key, "comment": self.numbers(self.comment),
                "channel": self.numbers(self.channel), "job": self.rules_job["job"], "plugin": "hang", "rule": 1, "alert": 1,
                "name": MARK, "sign_in": 1, "token": 1, "hash": "0" * 64}

    @staticmethod
    def numbers(answer):
        return next((value for name, value in answer.items() if isinstance(value, int)), 1)

    def test_every_question_with_the_ids_of_the_other_app(self):
        ids = self.ids()
        for method, path in self.routes():
            if method != "GET":
                continue
            for app in ("beta", "alpha"):
                asked = re.sub(r"\{(\w+)\}", lambda part: app if part[1] == "app" else str(ids[part[1]]), path)
                for scope in ("admin", "read", "symbols", "rules", "rollout"):
                    with self.subTest(asked=asked, scope=scope):
                        status, text = self.ask("GET", asked, "beta", scope)
                        allowed = (401, 403, 404) if app == "alpha" and "{app}" in path else (200, 302, 303, 400, 401, 403, 404)
                        self.assert_nothing(status, text, asked, allowed)

    def test_every_change_with_the_ids_of_the_other_app(self):
        for jobs in ("rekey_job", "forget_job"):
            mired.until(f"{jobs}: all are done", lambda: self.server.sql(f"SELECT count(*) FROM {jobs} WHERE ended_at IS NULL") == ["0"])
        before = self.state()
        ids = self.ids()
        for method, path in self.routes():
            if method == "GET" or "{app}" not in path:
                continue
            for app in ("beta", "alpha"):
                if app == "beta" and not re.search(r"\{(issue|report|key|comment|channel|job|rule|alert)\}", path):
                    continue
                asked = re.sub(r"\{(\w+)\}", lambda part: app if part[1] == "app" else str(ids[part[1]]), path)
                with self.subTest(method=method, asked=asked):
                    status, text = self.ask(method, asked, "beta", "admin", {} if method != "DELETE" else None)
                    self.assert_nothing(status, text, asked, (401, 403, 404, 409, 422))
        # Ids of the other app in the body.
        for path, body in (("/triage", {"issues": [self.issue], "state": "ignored"}), ("/triage/undo", {"batch": 1}),
                           (f"/issues/{self.issue}/merge", {"issues": [self.issue], "reason": "x", "author": "x"}),
                           ("/forget", {"report": self.report, "reason": "x", "preview": True}),
                           ("/forget", {"key": self.key, "reason": "x", "preview": True})):
            status, text = self.ask("POST", f"/api/v1/apps/beta{path}", body=body)
            self.assertNotIn(MARK, text, path)
            if path == "/forget":
                self.assertEqual((status, json.loads(text)["reports"]), (200, 0))
            else:
                self.assertIn(status, (404, 409, 422), (path, text))
        self.maxDiff = None
        self.assertEqual(self.state(), before)

    def test_a_thing_of_the_other_app_is_not_found_like_one_that_nobody_has(self):
        own = json.loads(self.ask("GET", "/api/v1/apps/beta/issues")[1])["groups"][0]["issues"][0]["id"]
        rule = {"name": MARK, "kind": "rate", "measure": "lag", "scope": "each", "bound": 2.5}
        ids = self.ids() | {"rule": self.numbers(self.made("/alerts/rules", rule))}
        nobody = dict.fromkeys(("comment", "channel", "job", "rule", "alert", "key"), 987654321) | {
            "issue": "H-987654321", "report": str(uuid.uuid4()), "plugin": "x", "name": "nobody"}
        bodies = {"/alerts/rules/{rule}": rule,
                  "/alerts/rules/{rule}/snooze": {"hours": 1}, "/keys/{key}/rotate": {"days": 1}}
        tried = 0
        for method, path in self.routes():
            things = re.findall(r"\{(issue|report|comment|job|rule|alert|channel|key)\}", path)
            for last in {things[0], things[-1]} if things else ():
                for given in (ids, nobody):
                    known = {"issue": own} if last != "issue" else {}  # a thing below an issue that the app has
                    asked = re.sub(r"\{(\w+)\}", lambda part: "beta" if part[1] == "app" else str((given | known)[part[1]]), path)
                    body = next((body for end, body in bodies.items() if path.endswith(end)), {})
                    with self.subTest(method=method, asked=asked):
                        status, text = self.ask(method, asked, body=body if method in ("PUT", "POST") else None)
                        self.assertEqual(status, 404, text)
                        tried += 1
        self.assertGreater(tried, 50)

    def state(self):
        """All of alpha that could be changed."""
        tables = ("issue", "issue_act", "issue_alias", "alert_channel", "rekey_job", "forget_job", "app_rules", "rollout_version", "event")
        return {table: sorted(self.server.sql(f"SELECT t::text FROM {table} t JOIN app a USING (app_id) WHERE slug = 'alpha'"))
                for table in tables} | {
                    "keys": self.server.sql("SELECT count(*) FROM access_key JOIN app USING (app_id) WHERE slug = 'alpha' AND revoked_at IS NULL")}

    def test_jobs_of_debug_files_are_each_apps_own(self):
        """Both apps lacked the file that alpha sent, and beta lacks it still."""
        jobs = {app: json.loads(self.ask("GET", f"/api/v1/apps/{app}/rekey", app)[1])["jobs"] for app in ("alpha", "beta")}
        told = {app: [(job["queued"], job["done"]) for job in jobs[app] if job["cause"] == "symbols"] for app in jobs}
        self.assertEqual(told, {"alpha": [(2, 2)], "beta": []})
        self.assertNotIn(MARK, json.dumps(jobs["beta"]))
        symbols = json.loads(self.ask("GET", "/api/v1/apps/beta/symbols")[1])
        self.assertEqual((symbols["files"], symbols["file_count"], symbols["file_bytes"]), ([], 0, 0))
        self.assertIn(self.build_id, [file["build_id"] for file in symbols["missing"]])
        alphas = json.loads(self.ask("GET", "/api/v1/apps/alpha/symbols", "alpha")[1])
        self.assertEqual([file["build_id"] for file in alphas["files"]], [self.build_id])
        self.assertNotIn(self.build_id, [file["build_id"] for file in alphas["missing"]])

    def test_permalinks(self):
        for path in (f"/i/{self.issue}", f"/r/{self.report}"):
            status, text = self.ask("GET", path)
            self.assert_nothing(status, text, path, (404,))


if __name__ == "__main__":
    unittest.main(warnings="ignore")
