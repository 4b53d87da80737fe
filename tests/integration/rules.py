#!/usr/bin/python3
"""Rules of an app's own from its author's hands to its issues: a real mired, `mire rules`, stored reports derived anew."""

import json
import os
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from answers import answer_of  # noqa: E402
from mired import SOURCE, Mired, report_id, scratch, until  # noqa: E402

REPORT = json.loads((SOURCE / "schema/wire/vectors/valid/samples-at-one-instant/report.json").read_text())
GOOD = "# what this app's team knows\nruntime {image} *\n"


class RulesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = scratch("rules")
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.mired = Mired(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.mired.stop()
        cls.scratch.cleanup()

    def setUp(self):
        self.app = self.id().rsplit("test_")[-1].replace("_", "-")[:40]
        self.ingest, self.author = self.mired.key(self.app, "ingest"), self.mired.key(self.app, "rules")
        self.path = f"/api/v1/apps/{self.app}"

    def get(self, path, name, code=200):
        status, _, body = self.mired.ask("GET", self.path + path)
        self.assertEqual(status, code, body)
        return answer_of(body, name)

    def rules(self, *words, code=0):
        os.environ["MIRE_KEY"] = self.author
        return self.mired.mire("rules", *words, code=code)

    def file(self, text):
        path = self.folder / f"{self.app}.rules"
        path.write_text(text)
        return str(path)

    def send(self, count):
        for _ in range(count):
            report = json.loads(json.dumps(REPORT)) | {"id": report_id()}
            report["app"]["name"] = self.app
            status, _, body = self.mired.ask("POST", "/api/v1/reports", self.ingest, report)
            self.assertEqual(status, 202, body)
        until("the reports are counted", lambda: self.get("/overview", "getOverview")["totals"]["reports"] == count)

    def features(self):
        return [feature for group in self.get("/issues", "listIssues")["groups"] for feature in group["issues"]]

    def test_a_file_is_checked_without_a_server(self):
        self.assertIn("1 rules, all valid", self.rules("check", self.file("lock * my_lock\n")))
        self.assertIn("1 rules, all valid", self.rules("check", self.file("version 3\nlock * my_lock\n")))
        said = self.rules("check", self.file("lock * my_lock\nlok * my_lock\n"), code=1)
        self.assertRegex(said, r"\.rules:2: no such class: lok; write one of app")
        self.assertRegex(self.rules("packs"), r"(?m)^linux_c +\d+ +\d+$")

    def test_a_file_in_latin_1_has_the_names_it_means(self):
        path = self.folder / "latin1.rules"
        path.write_bytes("lock caf\u00e9.so* caf\u00e9_lock\n".encode("latin-1"))
        self.assertIn("1 rules, all valid", self.rules("check", str(path)))
        self.rules("put", self.app, str(path), "--reason", "a lock")
        self.assertEqual(self.get("/rules", "getRules")["rules"], "lock caf\u00e9.so* caf\u00e9_lock\n")

    def test_a_change_is_previewed_then_moves_stored_reports(self):
        self.send(3)
        before = self.features()
        self.assertEqual(len(before), 1)
        image = before[0]["caller1_image"]
        draft = self.file(GOOD.format(image=image))
        said = self.rules("preview", self.app, draft)
        self.assertIn("3 of 3 reports would move; 1 issues would appear, 1 vanish", said)
        self.assertIn(before[0]["caller1"], said)
        self.assertEqual([f["id"] for f in self.features()], [f["id"] for f in before])
        self.assertEqual(self.get("/rules", "getRules")["version"], 0)

        self.rules("put", self.app, draft, "--reason", "it is a library")
        self.assertEqual(self.rules("get", self.app), GOOD.format(image=image))
        self.assertIn("it is a library", self.rules("history", self.app))
        job = until("a job ends", lambda: next((j for j in self.get("/rules", "getRules")["jobs"] if j["state"] == "done"), None))
        self.assertEqual((job["reports"], job["moved"]), (3, 3))
        self.get(f"/rules/jobs/{job['job']}", "getRulesJob")

        # Nobody is to blame any more: counted apart, and in no list unless asked for.
        self.assertEqual(self.features(), [])
        overview = self.get("/overview", "getOverview")
        self.assertEqual(overview["totals"]["reports"], 0)
        self.assertEqual([(share["key"], share["reports"]) for share in overview["apart"]], [("system", 3)])
        found = self.get("/issues?kind=system", "listIssues")["groups"][0]["issues"][0]
        report = self.get(f"/issues/{found['id']}/reports/latest", "getReport")
        rule = next(report["rules"][f["rule"]] for f in report["hot"]["frames"] if f["image"] == image)
        self.assertEqual(rule, {"pack": "app", "version": 1, "line": 2, "text": f"runtime {image} *"})
        self.assertTrue(report["why"])

        # A report that comes now is worked on with them, and going back moves all of them again.
        report = json.loads(json.dumps(REPORT)) | {"id": report_id()}
        report["app"]["name"] = self.app
        self.mired.ask("POST", "/api/v1/reports", self.ingest, report)
        until("they are apart", lambda: self.get("/overview", "getOverview")["apart"][0]["reports"] == 4)
        self.rules("put", self.app, self.file(""), "--reason", "it was not")
        until("the jobs end", lambda: all(j["state"] == "done" for j in self.get("/rules", "getRules")["jobs"]))
        after = self.features()
        self.assertEqual([f["caller1"] for f in after], [f["caller1"] for f in before])
        for now, then in zip(after, before):  # not later; whichever report was worked on first had opened it
            self.assertLessEqual(now["first_seen_at"], then["first_seen_at"])
        self.rules("back", self.app, "1", "--reason", "it was after all")
        self.assertEqual(self.get("/rules", "getRules")["version"], 3)
        self.get("/rules?version=9", "problem", 404)

    sent = {}  # reports by app

    def send_with(self, app, modules, count=20):
        """Reports of an app with these modules, path and whether it is the app's; the first one is on the stacks."""
        key = self.mired.key(app, "ingest")
        sent = self.sent[app] = self.sent.get(app, 0) + count
        for _ in range(count):
            report = json.loads(json.dumps(REPORT)) | {"id": report_id()}
            report["app"]["name"] = app
            report["images"][1:] = [{"name": name, "id": f"{300 + i:040x}", "arch": "x86_64", "load": 1 << 40, "size": 1 << 20}
                                    | ({} if own is None else {"own": own}) for i, (name, own) in enumerate(modules)]
            status, _, body = self.mired.ask("POST", "/api/v1/reports", key, report)
            self.assertEqual(status, 202, body)

        def counted():
            status, _, body = self.mired.ask("GET", f"/api/v1/apps/{app}/overview")
            return status == 200 and json.loads(body)["totals"]["reports"] + sum(one["reports"] for one in json.loads(body)["apart"])
        until(f"the reports of {app} are counted", lambda: counted() >= sent)

    def test_a_module_that_one_app_alone_has_is_proposed(self):
        """Among at least three other apps with twenty reports each: with fewer even libc would be."""
        proposed = lambda: (self.get("/rules", "getRules")["apps_compared"], [one["module"] for one in self.get("/rules", "getRules")["proposed"]])  # noqa: E731
        libc = "/lib/x86_64-linux-gnu/libc.so.6"
        for one in ("/usr/lib/libcart.so.1.2", "/usr/lib/libtax.so.3", "/usr/lib/x86_64-linux-gnu/libshared.so", "/opt/shop/libopt.so"):
            self.send_with(self.app, [(one, None), (libc, None), ("/usr/lib/libloaded.so", None)], 6)
        self.send_with(self.app, [("/usr/lib/libdebian.so", False), (libc, None)], 1)
        apps, before = [f"other-{i}" for i in range(3)], proposed()[0]
        self.assertEqual(proposed()[1], [], "alone on its server")
        for app in apps:
            self.send_with(app, [(libc, None)], 19)
        self.assertEqual(proposed(), (before, []), "19 reports are too few")
        for app in apps:
            self.send_with(app, [(libc, None), ("/usr/lib/libshared.so.7", True)], 1)
        everything = (before + 3, ["libcart.so", "libtax.so"])
        self.assertEqual(proposed(), everything)
        draft = self.file("own libtax.so*\n")
        self.rules("put", self.app, draft, "--reason", "ours")
        self.assertEqual(proposed(), (before + 3, ["libcart.so"]), "a rule says it already")
        self.rules("put", self.app, self.file(""), "--reason", "not ours")
        self.send_with(apps[0], [(libc, None), ("/opt/other/libcart.so", None)], 1)
        self.assertEqual(proposed(), (before + 3, ["libtax.so"]), "another app has it now")

    def test_what_is_wrong_or_not_allowed_changes_nothing(self):
        body = {"base": 0, "author": "kim", "reason": "because", "rules": "lock * a\nlok * b\n"}
        status, _, answer = self.mired.ask("PUT", self.path + "/rules", self.author, body)
        self.assertEqual(status, 422, answer)
        self.assertIn("Line 2: no such class: lok", json.loads(answer)["detail"])
        body["rules"] = "lock * a\n"
        self.assertEqual(self.mired.ask("PUT", self.path + "/rules", None, body)[0], 403, "a foreign page could send that")
        for key in (self.ingest, self.mired.key(self.app, "rollout")):
            self.assertEqual(self.mired.ask("PUT", self.path + "/rules", key, body)[0], 401)
            self.assertEqual(self.mired.ask("POST", self.path + "/rules/preview", key, {"rules": ""})[0], 401)
        self.assertEqual(self.mired.ask("PUT", self.path + "/rules", self.author, body | {"reason": ""})[0], 422)
        self.assertEqual(self.get("/rules", "getRules")["version"], 0)
        self.assertEqual(self.mired.ask("PUT", self.path + "/rules", self.author, body)[0], 201)
        self.assertEqual(self.mired.ask("PUT", self.path + "/rules", self.author, body)[0], 409)
        self.get("/rules/jobs/999999", "problem", 404)


if __name__ == "__main__":
    unittest.main()
