#!/usr/bin/python3
"""New issues that are like an older one are merged by themselves, where the app's admins say so; a person's word holds."""

import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from answers import answer_of  # noqa: E402
from mired import Mired, scratch, until  # noqa: E402

CHANGE = {"X_Mire_Change": "1", "Content_Type": "application/json"}
CALLERS = "\n".join(f"  at com.example.Database.step{n}(Database.java:{n})" for n in range(20, 0, -1))


def hang(screen, second):
    """The main thread sleeps in a function of its own, which the same code calls."""
    return f"""----- pid 1 at 2026-11-20 10:00:{second:02}.000000000+0000 -----
Cmd line: shop
DALVIK THREADS (1):
"main" prio=5 tid=1 Sleeping
  | sysTid=1 nice=0 cgrp=top-app
  | state=S
  at java.lang.Thread.sleep(Native method)
  at com.example.{screen}.read({screen}.java:7)
{CALLERS}
  at android.os.Looper.loop(Looper.java:294)
  at android.app.ActivityThread.main(ActivityThread.java:8177)
----- end 1 -----""".encode()


class MergesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = scratch("merges")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.mired = Mired(pathlib.Path(cls.folder.name))
        cls.addClassCleanup(cls.mired.stop)
        cls.keys = {app: cls.mired.key(app, "ingest") for app in ("shop", "plain")}

    def change(self, method, path, body, app="shop", status=200):
        got, _, answer = self.mired.ask(method, f"/api/v1/apps/{app}{path}", None, body, **CHANGE)
        self.assertEqual(got, status, answer)
        return json.loads(answer)

    def send(self, screen, second, app="shop"):
        status, _, body = self.mired.ask("POST", "/api/v1/reports", self.keys[app], hang(screen, second),
                                         Content_Type="text/vnd.android.anr")
        self.assertEqual(status, 202, body)

    def issues(self, app="shop"):
        groups = self.mired.get(f"/apps/{app}/issues?t=90d")["groups"]
        return {issue["caller1"].split(".")[-2]: issue for group in groups for issue in group["issues"]}

    def shown(self, screen, app="shop"):
        return until(f"the issue of {screen} is there", lambda: self.issues(app).get(screen))

    def settings(self, merge_above, status=200):
        return self.change("PUT", "/settings", {"name": "shop", "retention_days": None, "merge_above": merge_above}, status=status)

    def test_the_life_of_a_merge(self):
        self.send("Cart", 1)
        first = self.shown("Cart")
        with self.subTest("off at first, and only from half on"):
            self.assertIsNone(answer_of(self.mired.ask("GET", "/api/v1/apps/shop/settings")[2], "getAppSettings")["merge_above"])
            for wrong in (0.49, 1.01, -1, "0.9", True):
                self.settings(wrong, 422)
            self.assertEqual(self.settings(0.9)["merge_above"], 0.9)
            self.assertEqual(self.change("PUT", "/settings", {"name": "shop", "retention_days": None})["merge_above"], 0.9)
        for screen, second in (("Cart", 31), ("Home", 32)):  # one report is of one app
            self.send(screen, second, "plain")
        self.send("Home", 2)
        second = self.shown("Home")["id"]
        score = self.mired.get(f"/apps/shop/issues/{second}/similar?t=90d")["suggestions"][0]["score"]
        self.assertTrue(0.55 < score < 0.9, score)  # a third one makes the frames of its own rarer, and the score less
        self.settings(0.5)
        until("it is merged", lambda: "Home" not in self.issues())
        (merged,) = self.issues().values()
        self.assertEqual((merged["id"], merged["members"]), (first["id"], 2))
        acts = self.mired.get(f"/apps/shop/issues/{first['id']}/activity")["acts"]
        self.assertEqual([(one["who"], one["kind"], one["issues"]) for one in acts], [("mire", "merged", second)])
        self.assertRegex(acts[0]["body"], r"^\d+ % alike")
        self.assertIn(("mire", "issue.merge"), {(row["who"], row["action"]) for row in self.mired.get("/apps/shop/audit")["rows"]})

        # A person undoes it: it stays so, while the next one is merged.
        self.change("POST", f"/issues/{first['id']}/unmerge", {"author": "kim", "reason": "another", "act": acts[0]["batch"]})
        self.shown("Home")
        self.send("Search", 3)
        self.shown("Search")
        until("the next one is merged", lambda: "Search" not in self.issues())
        self.assertIn("Home", self.issues(), "taken out by a person")
        self.assertEqual(set(self.issues("plain")), {"Cart", "Home"}, "of an app that says nothing")


if __name__ == "__main__":
    unittest.main(warnings="ignore")
