#!/usr/bin/python3
"""By plan: no list, overview, rates or issue reads a table of one row a report.

Every GET of openapi.yaml is asked of the API's handlers on a real PostgreSQL, whose auto_explain writes the plan of each
statement. A new route is asked, too. Exceptions have a bound, which is looked for in the plan.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import api  # noqa: E402
import rows  # noqa: E402
import scenario  # noqa: E402

SETTINGS = " ".join(f"-c {name}={value}" for name, value in {
    "session_preload_libraries": "auto_explain", "auto_explain.log_min_duration": 0, "auto_explain.log_format": "json",
    "log_min_messages": "log"}.items())

# Operations that may read reports, and their bounds.
ONE_REPORT = "one report by its key, and those next to it"
NEWEST = "reports of an issue by event_by_issue, of a user by event_by_user or of an app by event_by_time, newest first, up to a limit"
EMPTIED = "whether an issue would lose its last report, of the issues that a preview of rules moves"
MISSING = "the images that reports of an app lack, of which no page is made but this one"
EXCEPT = {
    "getChanges": NEWEST, "getStart": "the newest event of the app, by event_by_time",
    "getRules": EMPTIED,
    "getReport": ONE_REPORT, "getMemory": ONE_REPORT, "reportLink": ONE_REPORT,
    "getSymbols": MISSING, "getRekey": EMPTIED,
    "listReports": NEWEST, "findReports": NEWEST, "getFlame": NEWEST, "getSuspects": NEWEST, "issueText": NEWEST,
}
# Two facets together: the newest 10,000 events. These routes have facets of an issue or an app in some versions; the list has, of a
# facet in some versions, the issues.
TWO_FACETS = {"getIssue", "getOverview", "getFacets"}
FACETS = {"os": ["linux"], "os_version": ["6.1"], "model": ["Pixel 7"], "class": ["4gb"], "channel": ["public"]}
SORTS = ["impact", "events", "devices", "longest", "last", "bytes", "title"]
VALUES = {"t": ["24h", "14d", "60d"], "kind": ["hang", "!hang"], "state": ["open"], "q": ["keys"], "by": ["category", "place"],
          "sort": SORTS + ["-" + sort for sort in SORTS + ["change"]], "against": ["week"],
          "before": ["2026-10-01..2026-10-08"], "user": ["4711"], "scene": ["Cart"], "tag": ["plan=trial"]} | FACETS


def operations():
    """Paths, operations and names of parameters of every GET."""
    for path, methods in api.DOCUMENT["paths"].items():
        if "get" in methods:
            told = methods.get("parameters", []) + methods["get"].get("parameters", [])
            named = [p["$ref"].split("/")[-1] if "$ref" in p else p["name"] for p in told]
            yield path, methods["get"]["operationId"], named
    yield "/i/{issue}", "issueLink", []
    yield "/i/{issue}.md", "issueText", ["t", "v"]
    yield "/r/{report}", "reportLink", []


def nodes(plan, over=()):
    """Every node of a plan, with those over it."""
    yield plan, over
    for below in plan.get("Plans", []):
        yield from nodes(below, (*over, plan))


def is_bounded(node, over, plan):
    """Is a scan under a LIMIT, and not summed up before? Stacks are joined by their key to rows that are."""
    if node["Relation Name"].startswith("event_stack"):
        return any(n["Node Type"] == "Limit" for n, _ in nodes(plan)) and not any("Agg" in n["Node Type"] for n in over)
    kinds = [n["Node Type"] for n in over]
    return "Limit" in kinds and not any("Agg" in kind for kind in kinds[len(kinds) - 1 - kinds[::-1].index("Limit"):])


class PlansTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="mire-plans-", dir="/tmp")
        cls.addClassCleanup(scratch.cleanup)
        cls.log = pathlib.Path(scratch.name) / "log"
        cls.probe = api.Probe(scenario.NOW, scratch.name, PGOPTIONS=SETTINGS, MIRE_PG_LOG=str(cls.log))
        cls.addClassCleanup(cls.probe.close)
        world = scenario.world()
        rows.load(cls.probe.conninfo, world)
        cls.probe.roll_up()
        cls.sql("""INSERT INTO session_day SELECT 0, '2026-11-02'::date - n, app_id, version_id, 'public', 15, 9000, 9000, 9000, 1, 0,
            9000, 9000, 1, 0, 0, 0, 0, 0, 0 FROM version, generate_series(0, 13) n""")
        found = cls.sql("""SELECT c.relname, t.relname FROM pg_partitioned_table p JOIN pg_class t ON t.oid = p.partrelid
            LEFT JOIN pg_inherits i ON i.inhparent = p.partrelid LEFT JOIN pg_class c ON c.oid = i.inhrelid""")
        cls.of_reports = {name for line in found for name in line.split("|")}
        assert {"report", "event", "event_stack", "session", "memory_baseline"} < cls.of_reports
        apps, versions, issues, events, _ = world
        cls.version = next(v["version"] for v in versions if v["app_id"] == issues[0]["app_id"])
        cls.places = []  # an app's issue of hangs, and one of memory
        for issue in (issues[0], next(i for i in issues if i["subject"])):
            cls.places.append({"app": next(a["slug"] for a in apps if a["app_id"] == issue["app_id"]),
                               "issue": ("M-" if issue["subject"] else "I-") + str(issue["issue_id"]),
                               "report": next(e["report_id"] for e in events if e["issue_id"] == issue["issue_id"])})

    @classmethod
    def sql(cls, text):
        done = subprocess.run(["psql", "-qXAt", "-d", cls.probe.conninfo, "-c", text], capture_output=True, text=True, check=True)
        return done.stdout.split()

    def plans(self, target, posted=()):
        """The answer's status, and the plans of the statements it took."""
        begin = self.log.stat().st_size
        status, _, answer = self.probe.ask(target, posted)
        self.assertLess(status, 500, (target, answer))
        with self.log.open("rb") as log:
            log.seek(begin)
            text = log.read().decode(errors="replace")
        return status, [json.loads(found.replace("\n\t", "\n"))
                        for found in re.findall(r"LOG:  duration: [0-9.]+ ms  plan:\n\t(\{\n.*?\n\t\})\n", text, re.S)]

    def targets(self, path, names):
        """Ways to ask a path: each value of each parameter, alone and with a version."""
        for place in self.places:
            at = re.sub(r"\{(\w+)\}", lambda found: place.get(found[1], "1"), path)
            asked = [{}] + [{name: value} for name in names for value in VALUES.get(name, [])]
            if "v" in names:
                asked += [one | {"v": self.version} for one in asked]
            for one in asked:
                yield at + ("?" + urllib.parse.urlencode(one) if one else ""), "v" in one

    def check(self, operation, target, of_version, plan):
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(target).query)
        for node, over in nodes(plan["Plan"]):
            if node.get("Relation Name") not in self.of_reports:
                continue
            bounded = is_bounded(node, over, plan["Plan"])
            if of_version and (operation in TWO_FACETS or operation == "listIssues" and not FACETS.keys().isdisjoint(asked)):
                self.assertTrue(bounded, (target, plan["Query Text"]))
            else:
                self.assertIn(operation, EXCEPT, (target, plan["Query Text"]))
                if EXCEPT[operation] not in (ONE_REPORT, MISSING, EMPTIED):
                    self.assertTrue(bounded, (target, plan["Query Text"]))

    def test_no_page_reads_reports(self):
        asked = {}
        for path, operation, names in operations():
            if operation == "getRulesJob" or not path.startswith(("/api/v1/apps", "/i/", "/r/", "/metrics/apps")):
                continue
            for target, of_version in self.targets(path, names):
                status, plans = self.plans(target)
                for plan in plans:
                    self.check(operation, target, of_version, plan)
                good = asked.setdefault(operation, [0, 0])
                good[0] += status in (200, 302)
                good[1] += len(plans)
        for operation in ("getOverview", "listIssues", "getIssue", "getRates", "getChanges", "getVersions", "getFacets", "listApps",
                          "getIssueMemory", "getSimilar", "getProvenance", *EXCEPT):
            self.assertTrue(all(asked[operation]), (operation, asked[operation], "is not answered, or no plan was seen"))
        print(f"{sum(n for n, _ in asked.values())} answers of {len(asked)} routes, {sum(n for _, n in asked.values())} plans")

    def test_alerts_are_judged_without_reports(self):
        base = f"/api/v1/apps/{self.places[0]['app']}/alerts/replay"
        for kind in ("rate", "new", "growth", "missing", "silence"):
            rule = {"name": "a", "kind": kind, "bound": 3, "window_s": 86400} | ({"measure": "lag", "scope": "each"} if kind == "rate" else {})
            status, plans = self.plans("POST " + base, ["Content-Type: application/json", json.dumps(rule)])
            self.assertEqual(status, 200, kind)
            self.assertGreater(len(plans), 2, kind)
            for plan in plans:
                self.check("replayAlertRule", kind, False, plan)

    def test_a_table_of_reports_is_seen_in_a_plan(self):
        status, plans = self.plans(f"/api/v1/apps/{self.places[0]['app']}/issues/{self.places[0]['issue']}/reports/latest")
        self.assertEqual(status, 200)
        seen = {node.get("Relation Name") for plan in plans for node, _ in nodes(plan["Plan"])}
        self.assertTrue(seen & self.of_reports, seen)
        with self.assertRaises(AssertionError):
            for plan in plans:
                self.check("getOverview", "", False, plan)


if __name__ == "__main__":
    unittest.main()
