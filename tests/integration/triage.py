#!/usr/bin/python3
"""States, assignees, comments and activity of issues: a real mired with people, devices that report, and mire issue."""

import hashlib
import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from answers import answer_of  # noqa: E402
from mired import Mired, report_id, scratch, until  # noqa: E402

CHANGE = {"X_Mire_Change": "1", "Content_Type": "application/json"}
APP = "/api/v1/apps/shop"


def report(version, function, install="a", scene="main"):
    """A hang of a script, in a function that no other issue has."""
    return {
        "mire": 1, "id": report_id(), "kind": "event", "app": {"name": "a", "version": version},
        "device": {"install": hashlib.md5(install.encode()).hexdigest(), "os": "linux", "arch": "x86_64"},
        "process": {"pid": 1, "name": "a"}, "images": [{"name": "python", "load": 0, "script": "python"}],
        "script": {"texts": [function, "/srv/app.py", scene], "function": [0, 2], "file": [1, 1], "line": [7, 90]},
        "frames": {"image": [0, 0], "offset": [0, 1], "found": [5, 5]}, "nodes": {"up": [1, 1], "frame": [1, 0]},
        "event": {"begin_ns": 0, "duration_ms": 3000, "threshold_ms": 2000, "open": False,
                  "samples": {"at_ms": [2000], "weight_ms": [1000], "node": [2]}},
    }


class TriageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = scratch("triage")
        cls.mired = Mired(pathlib.Path(cls.scratch.name))
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.addClassCleanup(cls.mired.stop)
        cls.key, cls.other = cls.mired.key("shop", "ingest"), cls.mired.key("other", "ingest")
        cls.sent = 0
        cls.admin = cls.mired.key("shop", "admin")
        cls.people = {}
        for name, *role in (("root", "--server-admin"), ("kim", "--role", "triager", "--app", "shop"),
                            ("vera", "--role", "viewer", "--app", "shop"), ("olga", "--role", "admin", "--app", "other")):
            link = cls.mired.mire("user", "add", name, *role, "--data-dir", cls.mired.data).strip()
            body = {"link": link.split("#")[1], "password": "correct horse battery"}
            status, headers, answer = cls.mired.ask("POST", "/api/v1/welcome", None, body, **CHANGE)
            assert status == 200, answer
            cls.people[name] = headers["Set-Cookie"].split(";")[0]

    def ask(self, method, path, body=None, who="kim", name=None):
        status, _, answer = self.mired.ask(method, APP + path, None, body, Cookie=self.people[who], **CHANGE)
        return status, answer_of(answer, name) if name and status == 200 else json.loads(answer)

    def get(self, path):
        status, _, answer = self.mired.ask("GET", APP + path, self.admin)
        assert status == 200, answer
        return json.loads(answer)

    def send(self, *reports):
        for body in reports:
            status, _, answer = self.mired.ask("POST", "/api/v1/reports", self.key, body)
            self.assertEqual(status, 202, answer)
        type(self).sent += len(reports)
        until("all are counted", lambda: self.get("/overview")["totals"]["reports"] == self.sent)

    def issues(self, query=""):
        found = [one for group in self.get("/issues?limit=200" + query)["groups"] for one in group["issues"]]
        return {one["caller1"]: one for one in found}

    def set(self, functions, who="kim", **what):
        all_of = self.issues()
        body = {"issues": [all_of[one]["id"] for one in functions], **what}
        status, answer = self.ask("POST", "/triage", body, who, "triageIssues")
        self.assertEqual(status, 200, answer)
        return answer

    def state(self, function):
        one = self.issues()[function]
        return one["state"], one["state_version"]

    def activity(self, function):
        return self.ask("GET", f"/issues/{self.issues()[function]['id']}/activity", name="getActivity")[1]["acts"]

    def test_a_report_of_a_later_version_opens_what_was_resolved(self):
        self.send(report("1.9", "fixed"), report("1.10", "fixed"))
        self.set(["fixed"], state="resolved", **{"in": "1.10"}, reason="the lock is gone")
        self.assertEqual(self.state("fixed"), ("resolved", "1.10"))
        self.send(report("1.9", "fixed"), report("1.10", "fixed"))
        self.assertEqual(self.state("fixed"), ("resolved", "1.10"), "1.10 had it when it was resolved")
        self.send(report("1.11", "fixed"))
        self.assertEqual(self.state("fixed"), ("regressed", "1.11"))
        self.send(report("1.12", "fixed"))
        self.assertEqual(self.state("fixed"), ("regressed", "1.11"), "told once")
        kinds = [(act["kind"], act["who"], act["body"]) for act in self.activity("fixed")]
        self.assertEqual(kinds, [("regressed", "mire", "1.11"), ("state", "kim", "the lock is gone")])
        self.assertIn("fixed", self.issues("&state=regressed"))
        self.assertNotIn("fixed", self.issues("&state=open"))

    def test_the_version_with_the_fix_itself_opens_it_if_it_had_none(self):
        self.send(report("1.0", "early"))
        self.set(["early"], state="resolved", **{"in": "2.0"})
        self.send(report("1.0", "early"), report("1.99", "early"))
        self.assertEqual(self.state("early"), ("resolved", "2.0"))
        self.send(report("2.0", "early"))
        self.assertEqual(self.state("early"), ("regressed", "2.0"))

    def test_resolved_without_a_version_is_resolved_in_the_newest(self):
        self.send(report("1.0", "plain"), report("100.0", "newest"))
        self.set(["plain"], state="resolved")
        self.assertEqual(self.state("plain"), ("resolved", "100.0"))

    def test_ignored_until_a_version(self):
        self.send(report("1.0", "noise"), report("1.0", "for_good"))
        self.set(["noise"], state="ignored", until_version="1.5")
        self.set(["for_good"], state="ignored")
        self.send(report("1.4", "noise"), report("1.4", "for_good"))
        self.assertEqual(self.state("noise"), ("ignored", "1.5"))
        self.send(report("1.5", "noise"), report("99", "for_good"))
        self.assertEqual((self.state("noise"), self.state("for_good")), (("open", "1.5"), ("ignored", "")))
        self.assertEqual(self.activity("noise")[0]["kind"], "returned")

    def test_ignored_until_devices_a_rate_or_a_time(self):
        names = ("until_many", "until_more", "until_often", "until_rare", "until_soon", "until_late")
        self.send(*[report("1.0", one) for one in names])
        self.set(["until_many"], state="ignored", until_devices=5)
        self.set(["until_more"], state="ignored", until_devices=6)
        self.set(["until_often"], state="ignored", until_per_1000=40)
        self.set(["until_rare"], state="ignored", until_per_1000=60)
        self.set(["until_soon"], state="ignored", for_s=1)
        self.set(["until_late"], state="ignored", for_s=3600)
        self.send(*[report("1.0", one, f"d{n}") for one in names[:2] for n in (1, 2, 3, 4, 5, 5, 5)])
        self.send(*[report("1.0", one, f"d{n}") for one in names[2:4] for n in range(50)])
        self.mired.sql("""INSERT INTO session_day SELECT 0, current_date, app_id, version_id, 'public', 15, 1000, 1000, 1000, 1, 0, 1000, 1000, 1,
            0, 0, 0, 0, 0, 0 FROM version WHERE version = '1.0'""")
        self.mired.sql("UPDATE issue SET until_at = now() WHERE caller1 = 'until_soon'")
        self.mired.stop()
        self.mired.start()  # it looks at once, and every minute
        until("conditions are looked at", lambda: self.state("until_soon")[0] == "open")
        self.assertEqual({one: self.state(one)[0] for one in names}, {"until_many": "open", "until_more": "ignored", "until_often": "open", "until_rare": "ignored",
                                  "until_soon": "open", "until_late": "ignored"})
        self.assertEqual([self.activity(one)[0]["body"] for one in ("until_many", "until_often", "until_soon")],
                         ["5 devices", "50 per 1,000", "time"])
        self.mired.sql("DELETE FROM session_day")

    def test_what_was_done_together_is_undone_together_and_only_if_nothing_came_after(self):
        self.send(report("1.0", "left"), report("1.0", "right"))
        first = self.set(["left", "right"], state="ignored", for_s=86400)
        second = self.set(["left", "right"], assignee="vera")
        self.assertEqual([one["assignee"] for one in second["issues"]], ["vera", "vera"])
        status, answer = self.ask("POST", "/triage/undo", {"batch": first["batch"]}, name="undoTriage")
        self.assertEqual(status, 200, answer)
        self.assertEqual({(one["state"], one["assignee"]) for one in answer["issues"]}, {("open", "vera")})
        self.assertEqual(self.ask("POST", "/triage/undo", {"batch": first["batch"]})[0], 409, "once")
        third = self.set(["left"], state="resolved", **{"in": "3.0"})
        self.set(["left"], state="ignored")
        self.assertEqual(self.ask("POST", "/triage/undo", {"batch": third["batch"]})[1]["type"], "urn:mire:problem:triage.moved")
        status, answer = self.ask("POST", "/triage/undo", {"batch": second["batch"]})
        self.assertEqual((status, self.issues()["right"]["assignee"]), (200, ""))
        rows = self.mired.ask("GET", "/api/v1/audit?action=issue.", None, None, Cookie=self.people["root"])[2]
        actions = [row["action"] for row in json.loads(rows)["rows"]]
        self.assertTrue({"issue.state", "issue.assigned", "issue.undone"} <= set(actions), actions)

    def test_merged_issues_have_one_state(self):
        self.send(report("1.0", "head"), report("1.0", "limb"))
        ids = {name: one["id"] for name, one in self.issues().items()}
        self.assertEqual(self.ask("POST", f"/issues/{ids['head']}/merge", {"issues": [ids["limb"]], "reason": "one"})[0], 200)
        status, answer = self.ask("POST", "/triage", {"issues": [ids["limb"], ids["head"]], "state": "resolved", "in": "1.0"})
        self.assertEqual([one["id"] for one in answer["issues"]], [ids["head"]], "as it is shown, once")
        self.send(report("1.1", "limb"))
        self.assertEqual(self.state("head"), ("regressed", "1.1"))
        self.assertEqual([act["kind"] for act in self.activity("head")], ["regressed", "state", "merged"])

    def test_comments_are_kept_as_written_and_removed_by_their_author(self):
        self.send(report("1.0", "talked"))
        path = f"/issues/{self.issues()['talked']['id']}"
        text = "<script>alert(1)</script> **see** `a_b` 中文"
        status, one = self.ask("POST", path + "/comments", {"text": text}, name="addComment")
        self.assertEqual((status, self.activity("talked")[0]["body"]), (200, text))
        self.assertEqual(self.ask("POST", path + "/comments", {"text": " \n"})[0], 422)
        self.assertEqual(self.ask("POST", path + "/comments", {"text": "x" * 10001})[0], 422)
        self.assertEqual(self.ask("DELETE", f"{path}/comments/{one['id']}", who="vera")[0], 403)
        self.assertEqual(self.ask("DELETE", f"{path}/comments/{one['id']}")[0], 200)
        self.assertEqual((self.activity("talked"), self.ask("DELETE", f"{path}/comments/{one['id']}")[0]), ([], 404))
        two = self.ask("POST", path + "/comments", {"text": "again"})[1]
        self.assertEqual(self.ask("DELETE", f"{path}/comments/{two['id']}", who="root")[0], 200, "an admin removes any")

    def test_who_may_and_what_is_refused(self):
        self.send(report("1.0", "guarded"))
        one = self.issues()["guarded"]["id"]
        for who, want in (("vera", 403), ("olga", 404), ("kim", 200), ("root", 200)):
            self.assertEqual(self.ask("POST", "/triage", {"issues": [one], "state": "open"}, who)[0], want, who)
        self.assertEqual(self.ask("GET", "/assignees", name="listAssignees")[1], {"people": ["kim", "root", "vera"], "you": "kim"})
        for wrong in ({"issues": [], "state": "open"}, {"issues": [one]}, {"issues": [one], "state": "closed"}, {"issues": ["x"], "state": "open"},
                      {"issues": [one], "state": "open", "in": "1"}, {"issues": [one], "state": "resolved", "for_s": 5},
                      {"issues": [one], "state": "ignored", "until_per_1000": 0}, {"issues": [one], "assignee": "olga"},
                      {"issues": [one] * 51, "state": "open"}):
            self.assertEqual(self.ask("POST", "/triage", wrong)[0], 422, wrong)
        self.assertEqual(self.ask("POST", "/triage", {"issues": [one, "I-99999"], "state": "ignored"})[0], 404)
        self.assertEqual(self.state("guarded")[0], "open", "all or none")
        status, _, _ = self.mired.ask("POST", APP + "/triage", None, {"issues": [one], "state": "open"}, Cookie=self.people["kim"],
                                      Content_Type="application/json", Origin="https://elsewhere.example")
        self.assertEqual(status, 403, "a page of another origin")

    def test_the_command_does_the_same(self):
        self.send(report("1.0", "by_hand"))
        one = self.issues()["by_hand"]["id"]
        login = {"MIRE_KEY": self.admin, "MIRE_APP": "shop"}
        out = self.mired.mire("issue", one, "resolve", "--in", "1.0", "--reason", "done", **login)
        self.assertIn(f"{one}  resolved in 1.0\n", out)
        batch = out.split("undo ")[1].split()[0]
        self.assertEqual(self.mired.mire("issue", "undo", batch, **login), f"{one}  open\n")
        self.assertIn("ignored until 2.0", self.mired.mire("issue", one, "ignore", "--until", "2.0", "--for", "7d", "--devices", "9", **login))
        self.assertIn("assigned to vera", self.mired.mire("issue", one, "assign", "vera", **login))
        self.mired.mire("issue", one, "comment", "looked at it", **login)
        told = self.mired.mire("issue", one, "activity", **login)
        self.assertRegex(told, r"comment  looked at it\n.*assigned: vera\n.*state: ignored in 2.0\n.*state: resolved in 1.0  done  \(undone by key \d+\)")
        self.assertIn(f"# {one}: ", self.mired.mire("issue", one, **login))
        for words in (("resolve",), (one, "assign"), (one, "open", "--in", "1"), (one, "ignore", "--for", "x"), ("undo", "x")):
            self.mired.mire("issue", *words, code=2, **login)


if __name__ == "__main__":
    unittest.main()
