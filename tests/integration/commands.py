#!/usr/bin/python3
"""Commands that ask a server, on a real mired: their tables are the API's answers, and each verb does its deed."""

import json
import os
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402

RULE = {"name": "New issues", "kind": "new", "bound": 1, "window_s": 86400 * 30}


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = mired.scratch("commands")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.server = mired.Mired(cls.folder, "--alert-every-s=1", "--alert-private-hooks=yes")
        cls.addClassCleanup(cls.server.stop)
        cls.server.mire("seed", "shop", "--reports", 400, "--days", 10, "--data-dir", cls.server.data)
        mired.until("the reports are worked on", lambda: cls.server.sql("SELECT count(*) FROM inbox")[0] == "0" and cls.server.issues("shop"))

    def mire(self, *words, **more):
        return self.server.mire(*words, **more)

    def test_apps(self):
        listed = json.loads(self.mire("apps", "--json"))["apps"]
        self.assertEqual(listed, self.server.get("/apps")["apps"])
        lines = self.mire("apps").splitlines()
        self.assertRegex(lines[0], "^APP +NAME +REPORTS 24H +LAST REPORT$")
        self.assertRegex(lines[1], rf"^shop +shop +{listed[0]['reports_24h']}  \d\d\d\d-\d\d-\d\dT\d\d:\d\d$")
        self.assertIn("cannot be reached", self.mire("apps", "--server", "http://127.0.0.1:9", code=1))
        self.assertIn("options alone", self.mire("apps", "shop", code=2))

    def check_rates(self, lines, rows, rate):
        self.assertEqual(len(lines), 1 + len(rows), lines)
        for line, row in zip(lines[1:], rows):
            self.assertTrue(line.startswith(row["version"]), (line, row))
            self.assertEqual(int(line.split()[1]), round(row["sessions"] if "sessions" in row else row["days"]))
            if row[rate]:
                self.assertIn("{value:.3g} ({low:.3g}-{high:.3g})".format(**row[rate]), line)

    def test_rates(self):
        answer = json.loads(self.mire("rates", "--app", "shop", "--t", "20d", "--json"))
        sessions, users = self.mire("rates", "--app", "shop", "--t", "20d").split("\n\n")
        rows = [answer["total"] | {"version": "all"}] + answer["versions"]
        self.check_rates(sessions.splitlines(), rows, "lag_percent")
        self.assertEqual(users.splitlines().pop(), "In parentheses: the 95 % interval.")
        self.check_rates(users.splitlines()[:-1], [row["users"] | {"version": row["version"]} for row in rows], "lag_percent")
        one = self.mire("rates", "--app", "shop", "--t", "20d", "--v", answer["versions"][0]["version"]).splitlines()
        self.assertEqual(len(one), 8, one)
        self.assertIn("404", self.mire("rates", "--app", "nosuch", code=1))
        self.assertIn("the app is missing", self.mire("rates", code=2, MIRE_APP=""))

    def test_an_app_is_made_and_set_up_over_the_network(self):
        def app(verb, *words, **more):
            return self.mire("app", verb, "tools", *words, **more)

        settings = lambda: self.server.get("/apps/tools/settings")  # noqa: E731
        self.assertIn("mire app key tools ingest", app("create", "--name", "Our tools"))
        self.assertIn("409", app("create", code=1))
        self.assertEqual(settings()["name"], "Our tools")
        owners = self.folder / "CODEOWNERS"
        owners.write_text("*.c @kim\n/src/ @lee\n")
        app("set", "retention_days=30", "merge_above=0.9", "kept_tags=plan,tier", f"owners=@{owners}", "idle=keep")
        now = settings()
        self.assertEqual([now[name] for name in ("name", "retention_days", "merge_above", "kept_tags", "owners", "idle")],
                         ["Our tools", 30, 0.9, ["plan", "tier"], owners.read_text(), "keep"])
        told = app("set", "name=Other", "retention_days=null", "kept_tags=")
        self.assertRegex(told, r"(?m)^name +Other$")
        self.assertRegex(told, r"(?m)^owners *\n\*\.c @kim$")
        now = settings()
        self.assertEqual([now["name"], now["retention_days"], now["merge_above"], now["kept_tags"]], ["Other", None, 0.9, []])
        self.assertEqual(told, app("settings"))
        self.assertEqual(json.loads(app("settings", "--json")), now)
        self.assertIn("did you mean 'retention_days'", app("set", "retention_day=3", code=2))
        self.assertIn("is a number", app("set", "retention_days=x", code=2))
        self.assertIn("NAME=VALUE", app("set", "idle", code=2))
        self.assertIn("Line 1", app("set", "owners=!x @kim", code=1))
        self.assertIn("only a text", app("set", f"left_out=@{owners}", code=2))

        with self.subTest("keys"):
            secret = app("key", "ingest", "--label", "=ci", "--days", 3).strip()
            self.assertRegex(secret, r"^mk_[a-z2-7]{40}$")
            self.assertRegex(app("keys"), rf"(?m)^(\d+) +{secret[:9]} +ingest .* =ci$")
            number = json.loads(app("keys", "--json"))["keys"][0]["id"]
            self.assertNotEqual(app("rotate", number).strip(), secret)
            app("revoke", number)
            self.assertIsNotNone(next(k for k in self.server.get("/apps/tools/keys")["keys"] if k["id"] == number)["revoked_at"])
            self.assertIn("404", app("revoke", 999999, code=1))
            self.assertIn("--days is a whole number", app("key", "ingest", "--days", "many", code=2))

        with self.subTest("members, audit log, missing debug files"):
            self.assertIn("There is no account", app("member", "nobody", "viewer", code=1))
            self.assertEqual(app("members"), "There is no member.\n")
            rows = self.server.get("/apps/tools/audit")["rows"]
            lines = app("audit").splitlines()
            self.assertEqual(len(lines), 1 + len(rows))
            self.assertRegex(lines[1], rf"^{rows[0]['at'][:16]} +.*{rows[0]['action']}")
            self.assertEqual(app("missing"), "No debug file is missing.\n")
            missing = self.server.get("/apps/shop/symbols")["missing"]
            self.assertEqual(len(self.mire("app", "missing", "shop").splitlines()), 1 + len(missing) if missing else 1)

    def test_issue_is_the_page_for_a_ticket(self):
        issue = self.server.issues("shop")[0]["id"]
        self.assertEqual(self.mire("issue", issue), self.server.ask("GET", f"/i/{issue}.md")[2].decode())
        self.assertIn("There is no issue", self.mire("issue", "I-99999999", code=1))
        self.assertIn("say what to do", self.mire("issue", issue, "mend", code=2, MIRE_APP="shop"))

    def test_issues_are_filtered(self):
        def ids(*words):
            return re.findall(r"^([IM]-\d+) ", self.mire("issues", "--app", "shop", *words), re.M)

        def listed(asked):
            return [issue for group in self.server.get("/apps/shop/issues?" + asked)["groups"] for issue in group["issues"]]

        everything = listed("sort=auto")
        self.assertEqual(ids(), [issue["id"] for issue in everything])
        first = everything[0]
        self.assertEqual(set(ids("--q", first["caller1"])), {i["id"] for i in everything if first["caller1"] in i["caller1"] + i["caller2"]})
        alike = {i["id"] for i in everything if i["category"] == first["category"]}
        self.assertEqual(set(ids("--kind", first["category"])), alike)
        self.assertEqual(set(ids("--kind", "!" + first["category"])), {i["id"] for i in everything} - alike)
        self.mire("issue", first["id"], "ignore", "--app", "shop")
        self.assertEqual(ids("--state", "ignored"), [first["id"]])
        self.mire("issue", first["id"], "open", "--app", "shop")
        self.assertEqual(ids("--v", "1.0.0"), [i["id"] for i in listed("v=1.0.0&sort=auto")])
        self.assertEqual(ids("--sort", "-last"), [i["id"] for i in listed("sort=-last")])
        self.assertIn("400", self.mire("issues", "--app", "shop", "--kind", "nosuch", code=1))

    def test_alerts(self):
        def alerts(verb, *words, **more):
            return self.mire("alerts", verb, "shop", *words, **more)

        rule, other = self.folder / "rule.json", self.folder / "other.json"
        rule.write_text(json.dumps(RULE))
        other.write_text(json.dumps(RULE | {"name": "Hardly any", "bound": 9999}))
        before = json.loads(alerts("rules", "--json"))["rules"]
        number = alerts("add", rule).strip()
        made = next(r for r in json.loads(alerts("rules", "--json"))["rules"] if r["id"] == int(number))
        self.assertEqual({k: made[k] for k in RULE}, RULE)
        self.assertRegex(alerts("rules"), rf"(?m)^ *{number}  new  .* 1  New issues$")
        self.assertRegex(alerts("try", rule), r"^It would have fired [1-9]\d* times in 30 days\.\n\d\d\d\d-")
        self.assertRegex(alerts("try", other), r"^It would have fired 0 times in 30 days\.\n")

        # It fires, is acknowledged, and is in the history.
        def fired():
            return [a for a in json.loads(alerts("list", "--json"))["open"] if a["rule"] == int(number)]

        mired.until("the rule fires", fired)
        alert = fired()[0]
        self.assertRegex(alerts("list"), r"\bfiring\b")
        self.assertIn(alert["verdict"], alerts("list"))
        alerts("ack", alert["id"])
        self.assertIn("acknowledged by", alerts("list"))
        self.assertIn(alert["verdict"], alerts("history"))

        # Snoozed, changed, removed.
        alerts("snooze", number, "3")
        self.assertRegex(alerts("rules"), rf"(?m)^ *{number} .*silent until ")
        alerts("snooze", number, "0")
        self.assertNotIn("silent", alerts("rules"))
        self.assertIn("whole number", alerts("snooze", number, "soon", code=2))
        alerts("change", number, other)
        self.assertRegex(alerts("rules"), rf"(?m)^ *{number}  new  .* 9999  Hardly any$")
        alerts("remove", number)
        self.assertEqual(len(json.loads(alerts("rules", "--json"))["rules"]), len(before))
        self.assertIn("404", alerts("remove", number, code=1))
        self.assertIn("cannot read", alerts("add", self.folder / "nothing", code=1))
        (self.folder / "empty").touch()
        self.assertIn("is empty", alerts("add", self.folder / "empty", code=1))

    def test_channels(self):
        def alerts(verb, *words, **more):
            return self.mire("alerts", verb, "shop", *words, **more)

        self.assertIn("nobody is notified", alerts("channels"))
        number, secret = alerts("channel", "webhook", "Hook", "http://127.0.0.1:9/hook").split()
        self.assertTrue(secret.startswith("whsec_"), secret)
        self.assertRegex(alerts("channels"), rf"(?m)^ *{number}  webhook +Hook +http://127\.0\.0\.1:9")
        pager = alerts("channel", "pagerduty", "Pager", "https://events.pagerduty.com/v2/enqueue", "--secret", "R" * 32).split()[0]
        self.assertNotIn("R" * 32, alerts("channels", "--json"))
        alerts("test", number)
        self.assertIn("422", alerts("channel", "pigeon", "P", "http://127.0.0.1:9", code=1))
        alerts("unchannel", number)
        alerts("unchannel", pager)
        self.assertIn("nobody is notified", alerts("channels"))
        self.assertIn("404", alerts("test", number, code=1))

    def test_users(self):
        data = ("--data-dir", self.server.data)
        self.assertNotIn("kim", self.mire("user", "list", *data))
        self.assertIn("/welcome#", self.mire("user", "add", "kim@shop.example", "--role", "triager", "--app", "shop", *data))
        self.assertRegex(self.mire("user", "list", *data), r"(?m)^kim@shop\.example.*triager.*shop|shop.*triager")
        self.mire("user", "role", "kim@shop.example", "--role", "admin", "--app", "shop", *data)
        self.assertRegex(self.mire("user", "list", *data), "admin")
        self.mire("user", "disable", "kim@shop.example", *data)
        self.assertRegex(self.mire("user", "list", *data), "disabled")
        self.mire("user", "add", "Kim Shop", *data, code=2)


if __name__ == "__main__":
    unittest.main()
