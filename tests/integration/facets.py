#!/usr/bin/env python3
"""The list of issues by system, version of the system, model, class and channel has the figures of the stored events."""

import math
import pathlib
import random
import subprocess
import sys
import unittest
import urllib.parse

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402
from answers import answer_of  # noqa: E402

COLUMNS = {"os": "os", "os_version": "os_version", "model": "model", "class": "device_class", "channel": "channel"}
NEWEST = 10000  # MIRE_NEWEST_EVENTS
RANGE = "40d"


def quoted(value):
    return "'" + value.replace("'", "''") + "'"


def written(value):
    return value.replace("\\", "\\\\").replace(",", "\\,")


def half_up(value):
    """Rounded as PostgreSQL rounds a numeric."""
    return math.floor(value + 0.5)


class Facets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = mired.scratch("facets")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.server = mired.Mired(pathlib.Path(cls.scratch.name))
        cls.addClassCleanup(cls.server.stop)
        cls.admin = cls.server.key("shop", "admin")
        cls.server.mire("seed", "shop", "--reports", 3000, "--days", 30, "--data-dir", cls.server.data)
        mired.until("all is worked on", lambda: cls.server.sql("SELECT count(*) FROM inbox") == ["0"])

    def rows(self, text):
        done = subprocess.run([*self.server.psql(), "-c", text], capture_output=True, text=True, timeout=300, check=True)
        return done.stdout.splitlines()

    def get(self, path, name, status=200, **query):
        got, _, body = self.server.ask("GET", f"/api/v1/apps/shop/{path}?{urllib.parse.urlencode(query)}", self.admin)
        self.assertEqual(got, status, body)
        return answer_of(body, name) if status == 200 else body

    def listed(self, **query):
        """Reports, events, time lost, the longest and the devices of each issue; and the answer."""
        answer = self.get("issues", "listIssues", t=RANGE, limit=200, by="place", **query)
        self.assertIsNone(answer["next"])
        found = {}
        for group in answer["groups"]:
            for issue in group["issues"]:
                totals = issue["totals"]
                found[issue["id"][2:]] = (totals["reports"], round(totals["events"]), half_up(totals["waited_ms"] / 1000),
                                          totals["longest_ms"], totals["devices"])
                self.assertAlmostEqual(sum(issue["trend"]), totals["events"], delta=0.02)  # parts have three decimals
            self.assertEqual(group["totals"]["reports"], sum(issue["totals"]["reports"] for issue in group["issues"]))
        self.assertEqual(answer["totals"]["reports"], sum(reports for reports, *_ in found.values()))
        return found, answer

    def stored(self, where, newest=None):
        """The same of the stored events, by another way."""
        kinds = "category NOT IN ('test', 'system', 'idle')"
        rows = self.rows(
            f"""SELECT issue_id, count(*), round(sum(weight * (1 + suppressed))::numeric), round(sum(weight * (waited_ms + CASE WHEN category
                IN ('cpu', 'power', 'disk', 'frames') THEN 0 ELSE suppressed_ms END))::numeric / 1000), max(waited_ms), count(DISTINCT install)
                FROM (SELECT * FROM event WHERE {kinds} AND {where} ORDER BY occurred_at DESC LIMIT {newest or 'ALL'}) e GROUP BY 1""")
        return {row.split("|")[0]: tuple(int(float(value)) for value in row.split("|")[1:]) for row in rows}

    def is_like(self, found, stored):
        """Devices are exact up to 256, then close."""
        self.assertEqual(found.keys(), stored.keys())
        for issue, row in stored.items():
            self.assertEqual(found[issue][:4], row[:4], issue)
            self.assertAlmostEqual(found[issue][4], row[4], delta=0 if row[4] <= 256 else 0.1 * row[4])

    def values(self, facet):
        return self.rows(f"SELECT {COLUMNS[facet]} FROM event GROUP BY 1 ORDER BY count(*) DESC, 1")

    def each_facet(self):
        for facet, column in COLUMNS.items():
            values = [value for value in self.values(facet) if value]
            self.assertTrue(values, facet)
            listed = self.get("facets", "getFacets", t=RANGE, by=facet)["values"]
            self.assertEqual(sorted(f"{one['key']}|{one['reports']}" for one in listed),
                             sorted(self.rows(f"SELECT {column}, count(*) FROM event WHERE {column} <> '' GROUP BY 1")))
            for value in values[:3]:
                found, answer = self.listed(**{facet: written(value)})
                self.is_like(found, self.stored(f"{column} = {quoted(value)}"))
                self.assertEqual(answer["faceted"], {"since": None, "others": 0})
            found, _ = self.listed(**{facet: ",".join(written(value) for value in values[:2])})
            self.is_like(found, self.stored(f"{column} IN ({','.join(map(quoted, values[:2]))})"))
            found, _ = self.listed(**{facet: "!" + written(values[0])})
            self.is_like(found, self.stored(f"{column} <> {quoted(values[0])}"))

    def test_one_facet_is_exact(self):
        self.each_facet()
        mired.until("deltas are in cells", lambda: self.rows("SELECT count(*) FROM rollup_delta") == ["0"])
        self.each_facet()

    def test_with_a_kind_a_state_and_a_word(self):
        model = self.values("model")[0]
        found, _ = self.listed(model=written(model), kind="hang")
        self.is_like(found, self.stored(f"model = {quoted(model)} AND category = 'hang'"))
        self.assertEqual(self.listed(model=written(model), state="resolved")[0], {})
        word = self.rows("SELECT caller1 FROM issue JOIN event USING (issue_id) WHERE event.category = 'hang' GROUP BY 1"
                               " ORDER BY count(*) DESC LIMIT 1")[0].split(" ")[0]
        named, _ = self.listed(model=written(model), q=word)
        self.assertTrue(named, word)
        self.assertLess(named.keys(), found.keys())

    def test_sessions_are_of_the_facet(self):
        for one in self.get("rates", "getRates", t=RANGE, by="class")["values"]:
            _, answer = self.listed(**{"class": written(one["value"])})
            self.assertAlmostEqual(answer["sessions"], one["sessions"], delta=1e-6 * one["sessions"])
            self.assertLess(answer["sessions"], self.listed()[1]["sessions"])

    def test_two_facets_are_of_events(self):
        pairs = self.rows("SELECT os, os_version, version FROM event JOIN version USING (version_id) GROUP BY 1, 2, 3"
                                " ORDER BY count(*) DESC LIMIT 3")
        for pair in pairs:
            os, system, version = pair.split("|")
            where = f"os = {quoted(os)} AND os_version = {quoted(system)}"
            found, answer = self.listed(os=os, os_version=system)
            self.is_like(found, self.stored(where))
            self.assertEqual((answer["faceted"], answer["sessions"]), ({"since": None, "others": 0}, None))
            self.is_like(self.listed(os=os, os_version=system, v=version)[0],
                         self.stored(f"{where} AND version_id IN (SELECT version_id FROM version WHERE version = {quoted(version)})"))

    def test_pages_and_orders_are_of_the_facet(self):
        os = self.values("os")[0]
        for sort in ("-impact", "-events", "-devices", "-longest", "-last", "-bytes", "-above", "title"):
            whole = self.get("issues", "listIssues", t=RANGE, limit=200, sort=sort, os=os)["groups"]
            paged, cursor = [], {}
            while True:
                page = self.get("issues", "listIssues", t=RANGE, limit=7, sort=sort, os=os, **cursor)
                paged += page["groups"]
                if not page["next"]:
                    break
                cursor = {"cursor": page["next"]}
            self.assertEqual([group["key"] for group in paged], [group["key"] for group in whole], sort)
        events = [group["totals"]["events"] for group in self.get("issues", "listIssues", t=RANGE, sort="-events", os=os)["groups"]]
        self.assertEqual(events, sorted(events, reverse=True))

    def test_asked_wrongly(self):
        for query in ({"model": ""}, {"model": "a,,b"}, {"model": "x" * 201}, {"os": "Linux", "sort": "-change"}, {"os": ",".join("ab" * 40)}):
            self.get("issues", "listIssues", status=400, t=RANGE, **query)
        self.get("facets", "getFacets", status=400, t=RANGE, by="arch")
        self.assertEqual(self.listed(model="no such model")[0], {})
        self.assertEqual(self.listed(model="no such model", os="nor this")[0], {})
        self.assertEqual(self.get("issues", "listIssues", t=RANGE, sort="auto", os=self.values("os")[0])["sort"], "-impact")

    def test_the_newest_events_when_there_are_more(self):
        self.rows("CREATE TABLE aside AS SELECT * FROM event LIMIT 0")
        self.addCleanup(self.rows, "DELETE FROM event WHERE model = 'Plenty'; DROP TABLE aside")
        self.rows("INSERT INTO aside SELECT * FROM event WHERE category = 'hang' ORDER BY occurred_at DESC LIMIT 1")
        self.rows("UPDATE aside SET model = 'Plenty', channel = 'plenty'")
        columns = [row for row in self.rows("SELECT column_name FROM information_schema.columns WHERE table_name = 'aside'")]
        made = ", ".join({"report_id": "gen_random_uuid()", "occurred_at": "occurred_at - n * interval '1 second'"}.get(name, name)
                         for name in columns)
        self.rows(f"INSERT INTO event ({', '.join(columns)}) SELECT {made} FROM aside, generate_series(1, {NEWEST + 5}) n")
        where = "model = 'Plenty' AND channel = 'plenty'"
        found, answer = self.listed(model="Plenty", channel="plenty")
        self.is_like(found, self.stored(where, NEWEST))
        oldest = self.rows(f"SELECT to_char(min(occurred_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI') FROM (SELECT * FROM event"
                                 f" WHERE {where} ORDER BY occurred_at DESC LIMIT {NEWEST}) e")[0]
        self.assertEqual(answer["faceted"]["since"][:16], oldest)

    def test_the_command(self):
        rng = random.Random(1)
        facet, column = rng.choice(list(COLUMNS.items()))
        value = self.values(facet)[0]
        said = self.server.mire("issues", "--app", "shop", "--server", self.server.url, "--t", RANGE, "--json", "--limit", "200",
                                f"--{facet.replace('_', '-')}", written(value), MIRE_KEY=self.admin)
        answer = answer_of(said, "listIssues")
        self.assertEqual(answer["totals"]["reports"], sum(row[0] for row in self.stored(f"{column} = {quoted(value)}").values()))


if __name__ == "__main__":
    unittest.main()
