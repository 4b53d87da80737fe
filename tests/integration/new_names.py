#!/usr/bin/env python3
"""Reports that name ever new versions, channels, classes, functions and tags leave as many rows as a day takes in, and pages say
how many were put aside. MIRE_FLOOD sets the number of reports."""

import json
import os
import pathlib
import sys
import unittest
import uuid

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402
from cases import OwnApp  # noqa: E402

FLOOD = int(os.environ.get("MIRE_FLOOD", "4000"))
VALUES, ISSUES = 20, 30
VECTORS = mired.SOURCE / "schema/wire/vectors"
EVENT = json.loads((VECTORS / "valid/samples-at-one-instant/report.json").read_text())
SESSION = json.loads((VECTORS / "session/valid/every-field/document.json").read_text())

# Report number n of a flood: {n} in a text is its number, {x} the number in 40 hex digits, {t} the time.
FILL = """
WITH made AS (SELECT n, (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(n >> 12 & 4095), 3, '0')
  || '8' || lpad(to_hex(n & 4095), 3, '0') || '{salt}')::uuid AS id FROM generate_series(1, {count}) n),
filled AS (SELECT n, id, replace(replace(replace(replace($flood${text}$flood$, '<id>', id::text), '<n>', n::text),
  '<x>', lpad(to_hex(n), 40, '0')), '"<t>"', ((extract(epoch FROM now()) * 1000)::bigint)::text) AS body FROM made),
stored AS (INSERT INTO report (slot, day, report_id, app_id, format, encoding, body) SELECT n % 64, current_date, id, app_id, 'mire',
  'identity', convert_to(body, 'UTF8') FROM filled, app WHERE slug = '{app}' RETURNING slot, day, report_id, app_id)
INSERT INTO inbox (slot, day, report_id, app_id) SELECT slot, day, report_id, app_id FROM stored
"""


class NewNames(OwnApp):
    settings = ("--workers=1", f"--new-values-day={VALUES}", f"--new-issues-day={ISSUES}")

    def flood(self, document, count=FLOOD, **change):
        document = json.loads(json.dumps(document)) | {"id": "<id>", "sampling": {}}
        for part, members in change.items():
            document[part] = document.get(part, {}) | members
        text = json.dumps(document)
        self.server.sql(FILL.format(text=text, count=count, app=self.app, salt=uuid.uuid4().hex[-12:]))
        mired.until("all is worked on", lambda: self.count("inbox") == 0, 1200)
        self.assertEqual(self.count("dead_letter"), 0)

    def aside(self):
        return {one["kind"]: one["reports"] for one in self.get("/overview", "getOverview")["put_aside"]}

    def test_versions_models_and_tags(self):
        self.flood(EVENT, app={"version": "1.<n>", "build": "b<n>", "channel": "c<n>"}, event=EVENT["event"] | {"begin_wall_ms": "<t>"},
                   device={"model": "Phone <n>", "class": "class <n>", "os_version": "<n>"}, process={"name": "process <n>"},
                   context={"tags": {"tag <n>": "<n>"}})
        self.assertEqual(self.count("version"), VALUES + 1)
        self.assertEqual(self.count("event"), FLOOD)
        self.assertEqual(self.count("event", "DISTINCT channel"), VALUES // 10 + 1)
        self.assertEqual(self.count("event", "DISTINCT device_class"), VALUES + 1)
        self.assertEqual(self.count("known_value"), 2 * VALUES + VALUES // 10 + 1)  # one issue
        mired.until("rollups are merged", lambda: self.count("rollup_delta") == 0)
        for table in ("version_hour", "issue_hour"):
            self.assertLessEqual(self.count(table), 2 * (VALUES + 1), table)  # an hour may end meanwhile
        self.assertLessEqual(self.count("rollup"), 8)
        self.assertLess(int(self.server.sql("SELECT max(octet_length(cell)) FROM rollup")[0]), 1 << 20)
        # No figure lacks a report, and the page says which are "other".
        overview = self.get("/overview", "getOverview")
        self.assertEqual(overview["totals"]["reports"], FLOOD)
        self.assertEqual({row["version"]: row["reports"] for row in self.get("/versions", "getVersions")["versions"]}["other"], FLOOD - VALUES)
        self.assertEqual(self.aside(), {"version": FLOOD - VALUES, "channel": FLOOD - VALUES // 10, "class": FLOOD - VALUES})
        facets = self.get("/facets", "getFacets")
        self.assertLessEqual(max(len(values) for values in facets.values() if isinstance(values, list)), 257)
        # A version that was taken in stays known to later reports.
        self.flood(EVENT, count=3, app={"version": "1.1", "build": "b1", "channel": "c1"})
        self.assertEqual(self.count("version"), VALUES + 1)

    def test_functions(self):
        images = [EVENT["images"][0] | {"id": "<x>", "name": "/usr/lib/module<n>.so"}, EVENT["images"][1]]
        self.flood(EVENT | {"images": images})
        self.assertEqual(self.count("issue"), ISSUES + 1)
        self.assertEqual(self.aside(), {"issue": FLOOD - ISSUES})
        self.assertEqual([one["totals"]["reports"] for one in self.issues() if one["caller1"] == "other"], [FLOOD - ISSUES])
        self.assertLessEqual(self.count("issue_hour"), 2 * (ISSUES + 1))
        self.assertLessEqual(self.count("issue_tree"), 32 * (ISSUES + 1))
        self.assertLessEqual(self.count("missing_debug_file"), 3 * (ISSUES + 1))
        self.assertEqual(self.get("/overview", "getOverview")["totals"]["reports"], FLOOD)

    def test_channels_of_sessions(self):
        before = self.server.sql("SELECT count(*) FROM session_day")[0]
        ends = [end | {"verdict": "end <n>"} for end in SESSION["session"]["ends"]]
        session = SESSION["session"] | {"begin_wall_ms": "<t>", "ends": ends}
        self.flood(SESSION, session=session, app={"channel": "c<n>", "version": "2.<n>"})
        self.assertLessEqual(int(self.server.sql("SELECT count(*) FROM session_day")[0]) - int(before),
                             2 * (VALUES + 1) * (VALUES // 10 + 1))
        self.assertEqual(self.server.sql(f"SELECT sum(records) FROM session_day JOIN app USING (app_id) WHERE slug = '{self.app}'"), [str(FLOOD)])
        self.assertEqual(self.server.sql(f"SELECT DISTINCT verdict FROM session_end_day JOIN app USING (app_id) WHERE slug = '{self.app}'"), ["other"])
        # Forgetting takes its records out again, put aside or not.
        install = SESSION["device"]["install"]
        self.server.mire("forget", self.app, "--reason", "made up", "--install", install, MIRE_KEY=self.admin)
        self.assertEqual(self.server.sql(f"SELECT coalesce(sum(records), 0) FROM session_day JOIN app USING (app_id)"
                                         f" WHERE slug = '{self.app}'"), ["0"])

    def test_an_other_version_reopens_nothing(self):
        self.flood(EVENT, count=1, app={"version": "1.0", "build": ""})
        issue = self.issues()[0]["id"]
        status, _, body = self.server.ask("POST", f"{self.path}/triage", self.admin, {
            "issues": [issue], "state": "resolved", "in": "1.0", "reason": "mended"})
        self.assertEqual(status, 200, body)
        self.flood(EVENT, count=VALUES - 1, app={"version": "0.<n>", "build": ""})
        self.flood(EVENT, count=2, app={"version": "9.<n>", "build": ""})  # later, but put aside
        self.assertEqual(self.aside(), {"version": 2})
        self.assertEqual(self.server.sql(f"SELECT state FROM issue JOIN app USING (app_id) WHERE slug = '{self.app}'"), ["resolved"])


if __name__ == "__main__":
    unittest.main(warnings="ignore")
