#!/usr/bin/env python3
"""Beyond enough reports of an issue, a version and a day a report is counted only: every figure has it, and nothing else."""

import json
import pathlib
import sys
import time
import unittest
import uuid

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402
from answers import answer_of  # noqa: E402
from cases import OwnApp  # noqa: E402

VECTORS = mired.SOURCE / "schema/wire/vectors/valid"
ENOUGH = 5
FIGURES = {  # of an app: the tables that sum something over reports
    "version_hour": "hour, version_id, category, reports, round(events::numeric, 3), round(waited_ms::numeric, 3), longest_ms",
    "issue_hour": "hour, issue_id, version_id, tree, reports, round(events::numeric, 3), round(waited_ms::numeric, 3), longest_ms, most_bytes, round(above_bytes::numeric, 0)",
    "turn_hour": "hour, version_id, from_ms, round(turns::numeric, 3)",
    "loss_day": "day, version_id, reason, lost",
    "issue_memory": "day, issue_id, version_id, tree, md5(population)",
    "arrival_day": "day, kind, delay, round(events::numeric, 3)",
    "event": "report_id, issue_id, weight, waited_ms, kept",
}


class Enough(OwnApp):
    settings = ("--workers=1",)

    def setUp(self):
        super().setUp()
        self.keep(ENOUGH)

    def keep(self, number):
        status, _, body = self.server.ask("PUT", self.path + "/settings", self.admin,
                                          {"name": self.app, "retention_days": None, "enough_per_issue_day": number})
        self.assertEqual(status, 200, body)
        self.assertEqual(answer_of(body, "setAppSettings")["enough_per_issue_day"], number)

    def send(self, count, vector="samples-at-one-instant", version=None, install=None):
        """Reports of today, one after the other; their ids."""
        sent = []
        for _ in range(count):
            document = json.loads((VECTORS / vector / "report.json").read_text()) | {"id": mired.report_id()}
            document["app"]["version"] = version or document["app"]["version"]
            document["device"]["install"] = install or uuid.uuid4().hex
            for part, member in (("event", "begin_wall_ms"), ("memory", "taken_wall_ms")):
                if member in document.get(part, {}):
                    document[part][member] = int(time.time() * 1000)
            status, _, body = self.server.ask("POST", "/api/v1/reports", self.ingest, document)
            self.assertEqual(status, 202, body)
            sent.append(document["id"])
        mired.until("all is worked on", lambda: self.count("inbox") == 0)
        return sent

    def figures(self):
        return {table: sorted(self.server.sql(
            f"SELECT translate(concat_ws('|', {columns}), ' ', 'T') FROM {table} JOIN app USING (app_id) WHERE slug = '{self.app}'"))
            for table, columns in FIGURES.items()}

    def settled(self):
        """No day is to be made anew: pages and events say the same."""
        mired.until("rollups are made", lambda: self.server.sql("SELECT count(*) FROM rollup_due") == ["0"])

    def test_more_is_counted_and_pages_say_so(self):
        ids = self.send(ENOUGH + 7)
        self.assertEqual(self.count("event"), ENOUGH + 7)
        self.assertEqual(self.count("event", where="kept"), ENOUGH)
        stacks = "SELECT count(*) FROM event e JOIN {} USING (slot, day, report_id) JOIN app a ON a.app_id = e.app_id WHERE slug = '%s'" % self.app
        self.assertEqual(self.server.sql(stacks.format("event_stack")), [str(ENOUGH)])
        whole, cut = (int(self.server.sql(f"SELECT max(octet_length(r.body)) FROM report r JOIN event e USING (slot, day, report_id)"
                                          f" JOIN app a ON a.app_id = e.app_id WHERE slug = '{self.app}' AND {which}")[0])
                      for which in ("kept", "NOT kept"))
        self.assertLess(cut, whole)

        issue = self.only_issue()
        self.assertEqual(issue["totals"]["reports"], ENOUGH + 7)
        self.assertEqual(issue["totals"]["devices"], ENOUGH + 7)
        of = f"/issues/{issue['id']}"
        listed = self.get(of + "/reports", "listReports")
        self.assertEqual((listed["total"], listed["kept"], len(listed["reports"])), (ENOUGH + 7, ENOUGH, ENOUGH))
        latest = self.get(of + "/reports/latest", "getReport")
        self.assertEqual((latest["position"], latest["total"], latest["reports"], latest["row"]["kept"]), (1, ENOUGH, ENOUGH + 7, True))
        self.assertTrue(latest["hot"]["frames"])
        counted = self.get(f"{of}/reports/{ids[-1]}", "getReport")
        self.assertEqual((counted["row"]["kept"], counted["hot"]["frames"]), (False, []))
        self.assertIn("are not kept", {fact["name"]: fact["value"] for fact in counted["facts"]}["Stacks"])
        self.assertEqual(self.get(of + "/flame", "getFlame")["reports"], ENOUGH)

        # Another version, and another number, hold at once; a report that is sent again is one that was there.
        self.send(2, version="99.0")
        self.assertEqual(self.count("event", where="kept"), ENOUGH + 2)
        self.keep(ENOUGH + 10)
        self.send(4)
        self.assertEqual(self.count("event", where="kept"), ENOUGH + 2 + 3)
        self.keep(0)
        self.send(20)
        self.assertEqual(self.count("event", where="kept"), ENOUGH + 2 + 3 + 20)

    def test_a_server_that_starts_anew_knows_how_many_there_are(self):
        self.send(ENOUGH + 1)
        self.server.stop()
        self.server.start()
        self.send(3)
        self.assertEqual(self.count("event", where="kept"), ENOUGH)

    def test_counted_reports_are_taken_out_as_exactly_as_others(self):
        vectors = [path.parent.name for path in sorted(VECTORS.glob("*/report.json"))]
        vectors = [name for name in vectors if self.is_plain(name)]
        self.assertGreater(len(vectors), 20)
        self.assertTrue(any("memory" in json.loads((VECTORS / name / "report.json").read_text()) for name in vectors))
        self.keep(1)
        for name in vectors:
            self.send(1, name)
        before, install = self.figures(), uuid.uuid4().hex
        for name in vectors:
            self.send(1, name, install=install)
        self.assertGreater(self.count("event", where="NOT kept"), 15)
        self.server.mire("forget", self.app, "--reason", "a test", "--install", install, MIRE_KEY=self.admin)
        self.assertEqual(self.figures(), before)

    def is_plain(self, name):
        try:
            document = json.loads((VECTORS / name / "report.json").read_text())
        except ValueError:
            return False  # white space and escapes that this reader does not take
        return document["kind"] in ("event", "memory")

    def test_rules_move_kept_reports_and_the_others_follow(self):
        self.send(ENOUGH + 7)
        before = self.only_issue()
        rules = self.folder / "own.rules"
        rules.write_text(f"runtime {before['caller1_image']} *\n")
        author = self.server.key(self.app, "rules")
        mired.until("the key is known", lambda: self.server.ask("GET", self.path + "/rules", author)[0] == 200)
        said = self.server.mire("rules", "preview", self.app, rules, MIRE_KEY=author)
        self.assertIn(f"{ENOUGH} of {ENOUGH} reports would move; 1 issues would appear, 1 vanish", said)
        self.server.mire("rules", "put", self.app, rules, "--reason", "it is a library", MIRE_KEY=author)
        mired.until("the job ends", lambda: [job["state"] for job in self.get("/rules", "getRules")["jobs"] if not job["preview"]] == ["done"])
        self.settled()

        # All of them are in the other issue, whose kind stands apart from the totals.
        self.assertEqual(self.get("/issues", "listIssues")["groups"], [])
        overview = self.get("/overview", "getOverview")
        self.assertEqual((overview["totals"]["reports"], [(one["key"], one["reports"]) for one in overview["apart"]]),
                         (0, [("system", ENOUGH + 7)]))
        after = self.get("/issues?kind=system", "listIssues")["groups"][0]["issues"][0]
        self.assertEqual(after["totals"]["reports"], ENOUGH + 7)
        self.assertEqual(after["totals"]["devices"], ENOUGH + 7)
        self.assertEqual(self.count("event", where="kept"), ENOUGH)
        self.assertEqual(len(set(self.server.sql(
            f"SELECT issue_id FROM event JOIN app USING (app_id) WHERE slug = '{self.app}'"))), 1)

        # And out again: every figure is of the reports that are left.
        install = self.server.sql(f"SELECT encode(install, 'hex') FROM event JOIN app USING (app_id) WHERE slug = '{self.app}' AND NOT kept LIMIT 1")[0]
        self.server.mire("forget", self.app, "--reason", "a test", "--install", install, MIRE_KEY=self.admin)
        for table in ("issue_hour", "version_hour"):
            self.assertEqual(self.server.sql(f"SELECT sum(reports) FROM {table} JOIN app USING (app_id) WHERE slug = '{self.app}'"),
                             [str(ENOUGH + 6)], table)

    def test_a_counted_report_stays_while_a_kept_one_does(self):
        self.send(ENOUGH + 2)
        self.server.ask("POST", self.path + "/rekey", self.admin, {"preview": False})
        mired.until("the job ends", lambda: self.server.sql("SELECT count(*) FROM rekey_job WHERE state <> 'done'") == ["0"])
        self.assertEqual(self.only_issue()["totals"]["reports"], ENOUGH + 2)
        self.assertEqual(self.count("event", where="kept"), ENOUGH)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
