#!/usr/bin/python3
"""New issues are assigned by an app's rules of owners, in the syntax of CODEOWNERS; a person's word holds."""

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
RULES = """# the shop
*.py                 @nobody @acme/kim   # the first one with a role
/cart/               lee@acme.example
/cart/old/
function:pay_*       @Lee
[Ads] @kim
module:python*       @stranger
"""


def report(function, file):
    """A hang of a script: its module is the script's file, the folder of the build before it."""
    return {
        "mire": 1, "id": report_id(), "kind": "event", "app": {"name": "a", "version": "1"},
        "device": {"install": hashlib.md5(b"a").hexdigest(), "os": "linux", "arch": "x86_64"},
        "process": {"pid": 1, "name": "a"}, "images": [{"name": "python", "load": 0, "script": "python"}],
        "script": {"texts": [function, file, "main"], "function": [0, 2], "file": [1, 1], "line": [7, 90]},
        "frames": {"image": [0, 0], "offset": [0, 1], "found": [5, 5]}, "nodes": {"up": [1, 1], "frame": [1, 0]},
        "event": {"begin_ns": 0, "duration_ms": 3000, "threshold_ms": 2000, "open": False,
                  "samples": {"at_ms": [2000], "weight_ms": [1000], "node": [2]}},
    }


class OwnersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = scratch("owners")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.mired = Mired(pathlib.Path(cls.scratch.name))
        cls.addClassCleanup(cls.mired.stop)
        cls.key, cls.admin = cls.mired.key("shop", "ingest"), cls.mired.key("shop", "admin")
        cls.people = {}
        for name, *role in (("root", "--server-admin"), ("kim", "--role", "triager", "--app", "shop"),
                            ("lee", "--role", "viewer", "--app", "shop"), ("stranger", "--role", "viewer", "--app", "other")):
            if name == "stranger":
                cls.mired.key("other", "ingest")
            link = cls.mired.mire("user", "add", name, *role, "--data-dir", cls.mired.data).strip()
            body = {"link": link.split("#")[1], "password": "correct horse battery"}
            status, headers, answer = cls.mired.ask("POST", "/api/v1/welcome", None, body, **CHANGE)
            assert status == 200, answer
            cls.people[name] = headers["Set-Cookie"].split(";")[0]

    def ask(self, method, path, body=None, who="kim"):
        status, _, answer = self.mired.ask(method, APP + path, None, body, Cookie=self.people[who], **CHANGE)
        return status, answer

    def rules(self, owners, status=200, **more):
        got, answer = self.ask("PUT", "/settings", {"name": "shop", "retention_days": None, "owners": owners, **more}, "root")
        self.assertEqual(got, status, answer)
        return answer_of(answer, "setAppSettings") if status == 200 else json.loads(answer)

    def send(self, function, file):
        status, _, answer = self.mired.ask("POST", "/api/v1/reports", self.key, report(function, file))
        self.assertEqual(status, 202, answer)
        return until(f"{function} has an issue", lambda: self.issues().get(function))

    def issues(self):
        status, _, answer = self.mired.ask("GET", APP + "/issues?limit=200", self.admin)
        assert status == 200, answer
        return {one["caller1"]: one for group in json.loads(answer)["groups"] for one in group["issues"]}

    def becomes(self, function, whom):
        until(f"{function} is {whom}'s", lambda: self.issues()[function]["assignee"] == whom, 200)

    def acts(self, function):
        status, _, answer = self.mired.ask("GET", f"{APP}/issues/{self.issues()[function]['id']}/activity", self.admin)
        assert status == 200, answer
        return answer_of(answer, "getActivity")

    def test_new_issues_go_to_their_owners(self):
        with self.subTest("rules that are none are refused, with the line"):
            self.assertIn("Line 2", self.rules("*.py @kim\n!x.py @kim\n", 422)["detail"])
            self.assertIn("Line 1", self.rules("*.py kim\n", 422)["detail"])
            self.assertEqual(self.ask("PUT", "/settings", {"name": "shop", "retention_days": None, "owners": ""})[0], 403)
        cases = {"draw": ("/home/ci/shop/view.py", "kim"), "add": ("/home/ci/shop/cart/store.py", "lee"),
                 "ancient": ("/home/ci/shop/cart/old/store.py", ""), "pay_now": ("/home/ci/shop/cart/pay.py", "lee"),
                 "other": ("/usr/lib/x.py", "")}
        for function, (file, _) in cases.items():
            self.send(function, file)
        done, mine = self.send("done", "/home/ci/shop/view.py"), self.send("mine", "/home/ci/shop/view.py")
        self.assertEqual(self.ask("POST", "/triage", {"issues": [done["id"]], "state": "resolved"})[0], 200)
        self.assertEqual(self.ask("POST", "/triage", {"issues": [mine["id"]], "assignee": "lee"})[0], 200)
        self.assertEqual(self.rules(RULES, source_root="/home/ci/shop")["owners"], RULES)
        for function, (_, whom) in cases.items():
            if whom:
                self.becomes(function, whom)
        found = self.issues()
        self.assertEqual({one: found[one]["assignee"] for one in cases}, {one: whom for one, (_, whom) in cases.items()})
        self.assertEqual(found["mine"]["assignee"], "lee")
        act = self.acts("add")["acts"][0]
        self.assertEqual((act["who"], act["kind"]), ("mire", "assigned"))
        self.assertIn("/cart/, line 3", json.dumps(act))
        with self.subTest("an undone assignment is not made again; later issues are assigned"):
            self.assertEqual(self.ask("POST", "/triage/undo", {"batch": act["batch"]})[0], 200)
            self.send("later", "/home/ci/shop/view.py")
            self.becomes("later", "kim")
            found = self.issues()
            self.assertEqual((found["add"]["assignee"], found["ancient"]["assignee"]), ("", ""))
        with self.subTest("new rules are for all open issues that are nobody's"):
            self.rules("* @lee\n")
            self.becomes("add", "lee")
            self.becomes("ancient", "lee")
            self.assertEqual(self.issues()["draw"]["assignee"], "kim")
        with self.subTest("the audit log has it"):
            status, _, answer = self.mired.ask("GET", APP + "/audit?limit=200", None, Cookie=self.people["root"])
            self.assertEqual(status, 200)
            rows = [row for row in json.loads(answer)["rows"] if row["action"] == "issue.assigned" and row["who"] == "mire"]
            self.assertEqual(len(rows), 6, rows)


if __name__ == "__main__":
    unittest.main()
