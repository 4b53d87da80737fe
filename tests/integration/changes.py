#!/usr/bin/python3
"""What changed: reports of two versions to a real mired, and which of their issues it tells as new, worse, better, gone.

The statistics are tested on generated months by unit/server/change.
"""

import hashlib
import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from answers import answer_of  # noqa: E402
from mired import Mired, report_id, scratch, until  # noqa: E402

SESSIONS = 20000


def report(version, function, install, model, system="linux"):
    """A hang of a script, in a function that no other issue has."""
    return {
        "mire": 1, "id": report_id(), "kind": "event", "app": {"name": "a", "version": version},
        "device": {"install": hashlib.md5(install.encode()).hexdigest(), "os": system, "os_version": "6.1", "arch": "x86_64",
                   "model": model},
        "process": {"pid": 1, "name": "a"}, "images": [{"name": "python", "load": 0, "script": "python"}],
        "script": {"texts": [function, "/srv/app.py", "main"], "function": [0, 2], "file": [1, 1], "line": [7, 90]},
        "frames": {"image": [0, 0], "offset": [0, 1], "found": [5, 5]}, "nodes": {"up": [1, 1], "frame": [1, 0]},
        "event": {"begin_ns": 0, "duration_ms": 3000, "threshold_ms": 2000, "open": False,
                  "samples": {"at_ms": [2000], "weight_ms": [1000], "node": [2]}},
    }


class ChangesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = scratch("changes")
        cls.mired = Mired(pathlib.Path(cls.scratch.name))
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.addClassCleanup(cls.mired.stop)
        key = cls.mired.key("shop", "ingest")
        status, _, answer = cls.mired.ask("PUT", "/api/v1/apps/shop/settings", None, {"name": "shop", "retention_days": None, "kept_tags": ["tier", "plan"]},
                                          X_Mire_Change="1")
        assert status == 200, answer
        plan = {  # function: devices in 1.9, devices in 1.10, reports of each
            "steady": (60, 60, 1), "grown": (40, 160, 1), "shrunk": (160, 40, 1), "appeared": (0, 50, 1), "vanished": (50, 0, 1),
            "of_apple": (0, 50, 1), "of_trials": (40, 160, 1), "rare": (3, 9, 1), "one_device": (1, 1, 1), "loud_device": (0, 1, 60),
        }
        sent = 0
        for function, (before, after, times) in plan.items():
            for version, devices in (("1.9", before), ("1.10", after)):
                for n in range(devices * times):
                    # All growth of "grown" is of one model, which others have as well; of "appeared" it is of all.
                    model = "S9" if (function == "grown" and n >= 40) or n % 10 == 3 else f"P{n % 5}"
                    apple = function == "of_apple"
                    trial = function == "of_trials" and n >= 40 or n % 10 == 7
                    body = report(version, function, f"{function} {n // times}", *((f"i{n % 5}", "ios") if apple else (model,)))
                    body["context"] = {"tags": {"tier": str(n % 3), "plan": "trial" if trial else "paid"}}
                    status, _, answer = cls.mired.ask("POST", "/api/v1/reports", key, body)
                    assert status == 202, answer
                    sent += 1
        until("all are counted", lambda: cls.mired.get("/apps/shop/overview")["totals"]["reports"] == sent)
        cls.sessions(0, SESSIONS)

    @classmethod
    def sessions(cls, days_ago, count):
        """Session records of both versions, as counted."""
        cls.mired.sql(f"""INSERT INTO session_day SELECT 0, current_date - {days_ago}, app_id, version_id, 'public', 15, {count}, {count}, {count},
            1, 0, {count}, {count}, 1, 0, 0, 0, 0, 0, 0 FROM version WHERE version IN ('1.9', '1.10')""")

    def changes(self, query=""):
        return answer_of(self.mired.ask("GET", "/api/v1/apps/shop/changes" + query)[2], "getChanges")

    def verdicts(self, answer):
        return {row["issue"]["caller1"]: row["verdict"] for row in answer["issues"]}

    def test_the_newest_version_is_held_against_the_one_before(self):
        answer = self.changes()
        self.assertEqual((answer["before"]["version"], answer["after"]["version"]), ("1.9", "1.10"), "by the natural order")
        self.assertEqual(answer["after"]["sessions"], SESSIONS)
        want = {"steady": "same", "grown": "worse", "shrunk": "better", "appeared": "new", "of_apple": "new", "of_trials": "worse", "vanished": "gone",
                "loud_device": "same"}
        self.assertEqual(self.verdicts(answer), want)
        self.assertEqual(answer["few"], 2)
        grown = next(row for row in answer["issues"] if row["issue"]["caller1"] == "grown")
        self.assertAlmostEqual(grown["ratio"]["value"], 4, places=2)
        self.assertTrue(2.5 < grown["ratio"]["low"] < 4 < grown["ratio"]["high"] < 6, grown)
        self.assertEqual((grown["before"]["hits_per_1000"], grown["after"]["hits_per_1000"]), (2, 8))
        self.assertEqual([row["verdict"] for row in answer["issues"]], ["worse", "worse", "new", "new", "better", "gone", "same", "same"],
                         "the largest change first")
        loud = next(row for row in answer["issues"] if row["issue"]["caller1"] == "loud_device")
        self.assertEqual((loud["after"]["reports"], loud["after"]["devices"]), (60, 1))

    def test_the_model_that_has_all_of_the_growth_is_named(self):
        found = {row["issue"]["caller1"]: row["explained"] for row in self.changes()["issues"]}
        self.assertEqual({name for name, why in found.items() if why}, {"grown", "of_apple", "of_trials"}, found)
        self.assertEqual((found["of_trials"]["facet"], found["of_trials"]["value"]), ("tag", "plan=trial"))
        self.assertGreater(found["of_trials"]["share"], 0.95)
        self.assertEqual((found["of_apple"]["facet"], found["of_apple"]["value"], found["of_apple"]["of_others"]), ("os", "ios", 0))
        why = found["grown"]
        self.assertEqual((why["facet"], why["value"]), ("model", "S9"))
        self.assertGreater(why["share"], 0.95)
        self.assertLess(abs(why["of_others"] - 0.1), 0.05, why)
        self.assertIn("of it on model S9", self.mired.mire("compare", "1.10", "1.9", "--app", "shop"))
        back = {row["issue"]["caller1"]: row["explained"] for row in self.changes("?v=1.9&against=1.10")["issues"]}
        self.assertEqual(back["grown"]["value"], "S9", "what got better is explained as well")

    def test_models_are_compared_within_their_system(self):
        issue = next(row["issue"]["id"] for row in self.changes()["issues"] if row["issue"]["caller1"] == "of_apple")
        facets = {one["name"]: one["values"] for one in self.mired.get(f"/apps/shop/issues/{issue}")["distributions"]}
        self.assertEqual({value["key"]: value["lift"] for value in facets["model"]}, {f"i{n}": 1 for n in range(5)})
        self.assertGreater(facets["version"][0]["lift"], 1.5, "a version is of all systems")

    def test_any_two_versions_are_compared(self):
        back = self.verdicts(self.changes("?v=1.9&against=1.10"))
        self.assertEqual((back["grown"], back["shrunk"], back["appeared"], back["vanished"]), ("better", "worse", "gone", "new"))
        none = self.changes("?v=0.1")
        self.assertEqual((none["issues"], none["before"]["version"]), ([], None))
        self.assertEqual(self.changes("?kind=launch")["issues"], [])
        self.assertEqual(self.mired.ask("GET", "/api/v1/apps/shop/changes?v=1.9,1.10")[0], 400)
        self.assertEqual(self.mired.ask("GET", "/api/v1/apps/shop/changes?against=1.9&x=1")[0], 400)

    def test_two_ranges_are_compared(self):
        today, before = "1d", "2026-01-01..2026-01-02"
        none = self.changes(f"?t={today}&before={before}")
        self.assertEqual((none["before"]["sessions"], none["after"]["version"]), (0, None), "no sessions then")
        self.sessions(9, SESSIONS // 2)
        day = self.mired.sql("SELECT current_date - 9")[0]
        after = self.mired.sql("SELECT current_date - 8")[0]
        both = self.changes(f"?v=1.10&t=2d&before={day}..{after}")
        self.assertEqual((both["before"]["version"], both["after"]["version"]), ("1.10", "1.10"))
        self.assertEqual((both["before"]["sessions"], both["after"]["sessions"]), (SESSIONS // 2, SESSIONS))
        self.assertEqual(self.verdicts(both)["grown"], "new", "no report is of that day")
        crossed = self.changes(f"?v=1.10&t=2d&against=1.9&before={day}..{after}")
        self.assertEqual((crossed["before"]["version"], crossed["after"]["version"]), ("1.9", "1.10"))
        self.mired.sql("DELETE FROM session_day WHERE day < current_date - 1")
        for wrong in ("before=yesterday", f"before={before}&against=week"):
            self.assertEqual(self.mired.ask("GET", f"/api/v1/apps/shop/changes?{wrong}")[0], 400, wrong)

    def test_both_sides_tell_their_rates(self):
        answer = self.changes()
        for side in ("before", "after"):
            self.assertEqual(answer[side]["rates"]["sessions"], answer[side]["sessions"])
            self.assertEqual(answer[side]["rates"]["lag_percent"]["value"], 0)

    def test_versions_are_listed_newest_first_with_rates_and_issues(self):
        answer = answer_of(self.mired.ask("GET", "/api/v1/apps/shop/versions")[2], "getVersions")
        rows = {row["version"]: row for row in answer["versions"]}
        self.assertEqual(list(rows), ["1.10", "1.9"], "by the natural order")
        new, old = rows["1.10"], rows["1.9"]
        self.assertEqual((new["sessions"], new["channels"]), (SESSIONS, [{"channel": "public", "sessions": SESSIONS}]))
        self.assertEqual([round(day["share"], 2) for day in new["days"]], [0.5], "of the sessions of that day")
        self.assertEqual(new["reports"] + old["reports"], 60 * 2 + 200 + 200 + 200 + 3 * 50 + 12 + 2 + 60)
        self.assertEqual((new["issues_new"], new["issues_resolved"], new["issues_regressed"]), (3, 0, 0), "appeared, of_apple, loud_device")
        key = self.mired.key("shop", "admin")
        grown = next(row["issue"]["id"] for row in self.changes()["issues"] if row["issue"]["caller1"] == "grown")
        body = {"issues": [grown], "state": "resolved", "in": "1.10"}
        status, _, text = self.mired.ask("POST", "/api/v1/apps/shop/triage", key, body, Content_Type="application/json")
        self.assertEqual(status, 200, text)
        again = json.loads(self.mired.ask("GET", "/api/v1/apps/shop/versions?v=1.10")[2])["versions"]
        self.assertEqual([(row["version"], row["issues_resolved"]) for row in again], [("1.10", 1)])
        self.mired.ask("POST", "/api/v1/apps/shop/triage/undo", key, {"batch": json.loads(text)["batch"]}, Content_Type="application/json")
        self.assertEqual(self.mired.ask("GET", "/api/v1/apps/shop/versions?q=x")[0], 400)

    def test_the_commands_say_the_same(self):
        key = self.mired.key("shop", "read")
        asked = ("--app", "shop", "--server", self.mired.url)
        lines = self.mired.mire("versions", *asked, MIRE_KEY=key).splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["VERSION", "1.10", "1.9"])
        said = self.mired.mire("compare", *asked, MIRE_KEY=key)
        worse, better = said.split("\nWorse")[1].split("\nBetter")
        self.assertRegex(worse, r"x4\.0 +2 -> 8 +grown \(hang\)")
        self.assertTrue("grown" in worse and "appeared" in worse and "new" in worse, said)
        self.assertTrue("shrunk" in better and "-75 %" in better and "vanished" in better and "gone" in better, said)
        self.assertIn("2 are unchanged; 2 have too few reports to judge.", said)
        back = self.mired.mire("compare", "1.9", "1.10", *asked, "--json", MIRE_KEY=key)
        self.assertEqual(self.verdicts(answer_of(back, "getChanges"))["grown"], "better")

    def test_what_is_merged_is_compared_as_one(self):
        key = self.mired.key("shop", "admin")
        ids = {row["issue"]["caller1"]: row["issue"]["id"] for row in self.changes()["issues"]}
        body = {"issues": [ids["vanished"]], "author": "kim", "reason": "one place"}
        status, _, answer = self.mired.ask("POST", f"/api/v1/apps/shop/issues/{ids['appeared']}/merge", key, body, Content_Type="application/json")
        self.assertEqual(status, 200, answer)
        self.assertEqual(self.verdicts(self.changes())["appeared"], "same", "as often as before, only elsewhere")
        status, _, answer = self.mired.ask("POST", f"/api/v1/apps/shop/issues/{ids['appeared']}/unmerge", key, body, Content_Type="application/json")
        self.assertEqual(status, 200, answer)
        self.assertEqual(self.verdicts(self.changes())["appeared"], "new")

    def test_this_week_is_held_against_the_last(self):
        before = self.changes("?against=week")
        self.assertEqual((before["before"]["sessions"], before["issues"][0]["verdict"] if before["issues"] else None), (0, None))
        self.sessions(9, SESSIONS)
        self.assertEqual(set(self.verdicts(self.changes("?against=week")).values()), {"new", "same"})
        self.mired.sql("DELETE FROM session_day WHERE day < current_date - 1")


if __name__ == "__main__":
    unittest.main()
