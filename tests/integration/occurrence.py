#!/usr/bin/env python3
"""Events and sessions count in the hour in which they happened: late ones, those of devices whose clock is wrong, those of impossible times,
and a kill that the next start tells. Each counter is compared with a count of the rows."""
import datetime as dt
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402

HOUR_MS, DAY_MS, KEEP_DAYS = 3_600_000, 86_400_000, 30
RUN = mired.BINARY / "sdk/mire-run"


def now_ms():
    return int(time.time() * 1000)


def event(happened_ms, version="1"):
    report = json.loads(mired.report(mired.report_id()))
    report["app"]["version"] = version
    report["event"] |= {"begin_wall_ms": happened_ms, "duration_ms": 700, "threshold_ms": 500}
    return report


def session(began_ms):
    report = json.loads((mired.SOURCE / "schema/wire/vectors/session/valid/smallest/document.json").read_text())
    report["id"] = mired.report_id()
    report["session"]["begin_wall_ms"] = began_ms
    return report


class Occurrence(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = mired.scratch("occurrence")
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.mired = mired.Mired(cls.folder, f"--retention-days={KEEP_DAYS}")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.addClassCleanup(cls.mired.stop)

    def send(self, app, reports):
        """Reports and the clocks that tell of them; None: none does."""
        key = self.mired.key(app, "ingest")
        for report, clock_ms in reports:
            headers = {} if clock_ms is None else {"Mire_Clock": str(clock_ms)}
            status, _, body = self.mired.ask("POST", "/api/v1/reports", key, report, **headers)
            self.assertEqual(status, 202, body)
        mired.until("all is worked on", lambda: self.mired.sql("SELECT count(*) FROM inbox") == ["0"])

    def occurred_ms(self, report, table="event"):
        text = f"SELECT (extract(epoch FROM occurred_at) * 1000)::bigint FROM {table} WHERE report_id = '{report['id']}'"
        return int(self.mired.sql(text)[0])

    def counters_agree(self):
        """Every counter is what its events say, hour by hour."""
        wrong = self.mired.sql("""
            WITH e AS (SELECT date_trunc('hour', occurred_at, 'UTC') AS hour, app_id, issue_id, version_id, tree, count(*) AS reports,
                       sum(weight * (1 + suppressed)) AS events, max(waited_ms) AS longest_ms, max(occurred_at) AS last_at
                       FROM event GROUP BY 1, 2, 3, 4, 5)
            SELECT count(*) FROM e FULL JOIN issue_hour i USING (hour, app_id, issue_id, version_id, tree)
            WHERE (e.reports, e.events, e.longest_ms, e.last_at) IS DISTINCT FROM (i.reports, i.events, i.longest_ms, i.last_at)""")
        self.assertEqual(wrong, ["0"])
        wrong = self.mired.sql("""
            WITH e AS (SELECT (occurred_at AT TIME ZONE 'UTC')::date AS day, app_id, version_id, channel, plugins, count(*) AS records
                       FROM session GROUP BY 1, 2, 3, 4, 5)
            SELECT count(*) FROM e FULL JOIN session_day s USING (day, app_id, version_id, channel, plugins)
            WHERE e.records IS DISTINCT FROM s.records""")
        self.assertEqual(wrong, ["0"])
        wrong = self.mired.sql("""SELECT count(*) FROM issue i WHERE first_seen <> (SELECT min(occurred_at) FROM event e
                                  WHERE e.issue_id = i.issue_id)""")
        self.assertEqual(wrong, ["0"])

    def test_late_and_wrong_clocks(self):
        now, random_ = now_ms(), random.Random(int(os.environ.get("MIRE_SEED", 1)))
        happened = [now - random_.randrange(0, 20 * DAY_MS) for _ in range(40)]
        errors = [0, 0, 5 * DAY_MS, -3 * DAY_MS, 40 * 365 * DAY_MS, 3 * HOUR_MS + 1]
        sent = [(event(at - errors[n % 6], str(n % 3)), now_ms() - errors[n % 6]) for n, at in enumerate(happened)]
        self.send("late", sent)
        for (report, clock_ms), at in zip(sent, happened):
            # The clock was told some instants before the server looked.
            self.assertLess(abs(self.occurred_ms(report) - at), 60_000, (report["event"], clock_ms))
        self.counters_agree()
        days = {}
        for at in happened:
            days[at // DAY_MS] = days.get(at // DAY_MS, 0) + 1
        series = self.mired.get("/apps/late/overview?t=90d")["series"]
        got = {}
        for line in series:
            for point in line["points"]:
                day = int(dt.datetime.fromisoformat(point["at"].replace("Z", "+00:00")).timestamp()) // 86_400
                got[day] = got.get(day, 0) + point["events"]
        near = min(at % DAY_MS for at in happened), max(at % DAY_MS for at in happened)
        if near[0] > 60_000 and near[1] < DAY_MS - 60_000:  # none may have slipped over midnight
            self.assertEqual(got, days)
        self.assertEqual(sum(got.values()), len(happened))

    def test_without_a_clock_the_reports_time_is_taken(self):
        now = now_ms()
        report = event(now - 9 * DAY_MS)
        self.send("untold", [(report, None)])
        self.assertEqual(self.occurred_ms(report), now - 9 * DAY_MS)
        self.counters_agree()

    def test_impossible_times_count_when_received(self):
        now = now_ms()
        times = [(now + DAY_MS, None), (now - (KEEP_DAYS + 1) * DAY_MS, None), (0, None), (1, now), (now - DAY_MS, 1), (now - DAY_MS, 999999999999999)]
        sent = [(event(at), clock) for at, clock in times]
        untold = event(now)
        del untold["event"]["begin_wall_ms"]
        self.send("impossible", [*sent, (untold, now)])
        for report, _ in [*sent, (untold, now)]:
            at = self.mired.sql(f"SELECT occurred_at = received_at FROM event WHERE report_id = '{report['id']}'")
            self.assertEqual(at, ["t"], report["event"])
        # A clock that is some minutes ahead of the server's tells no time after the receipt.
        ahead = event(now_ms() + 2 * 60_000)
        self.send("impossible", [(ahead, None)])
        self.assertEqual(self.mired.sql(f"SELECT occurred_at = received_at FROM event WHERE report_id = '{ahead['id']}'"), ["t"])
        self.counters_agree()

    def test_sessions_count_on_their_day(self):
        now = now_ms()
        sent = [(session(now - n * DAY_MS + 2 * DAY_MS), now_ms() + 2 * DAY_MS) for n in (0, 1, 1, 4)]
        self.send("sessions", sent)
        for (report, _), n in zip(sent, (0, 1, 1, 4)):
            self.assertLess(abs(self.occurred_ms(report, "session") - (now - n * DAY_MS)), 60_000)
        self.counters_agree()
        days = [day for version in self.mired.get("/apps/sessions/rates?t=14d")["versions"] for day in version["days"]]
        self.assertEqual(sorted(day["records"] for day in days), [1, 1, 2])

    def test_a_report_sent_twice_keeps_its_hour(self):
        now = now_ms()
        report = event(now - 50 * HOUR_MS)
        self.send("twice", [(report, now), (report, now + 7 * HOUR_MS), (report, None)])
        self.assertLess(abs(self.occurred_ms(report) - (now - 50 * HOUR_MS)), 60_000)
        self.assertEqual(self.mired.sql("SELECT count(*) FROM event JOIN app USING (app_id) WHERE slug = 'twice'"), ["1"])
        self.counters_agree()

    def test_an_earlier_event_that_comes_later_was_first(self):
        now = now_ms()
        later, earlier = event(now - DAY_MS, "2"), event(now - 5 * DAY_MS, "1")
        self.send("first", [(later, None)])
        self.send("first", [(earlier, None)])
        issue = self.mired.issues("first")[0]
        self.assertEqual(issue["first_version"], "1")
        first = dt.datetime.fromisoformat(issue["first_seen_at"].replace("Z", "+00:00")).timestamp() * 1000
        self.assertLess(abs(first - (now - 5 * DAY_MS)), 2)
        reports = self.mired.get(f"/apps/first/issues/{issue['id']}/reports")["reports"]
        self.assertEqual([row["id"] for row in reports], [later["id"], earlier["id"]])
        self.counters_agree()

    def test_a_seeded_app(self):
        """mire seed: the workers take every report once, the counters agree, the planted hang stands out, and so does the leak."""
        told = self.mired.mire("seed", "seeded", "--reports=5000", f"--days={KEEP_DAYS - 1}", f"--data-dir={self.mired.data}")
        made, late, twice = (int(re.search(pattern, told)[1]) for pattern in (r"^(\d+) reports", r"(\d+) came", r"(\d+) twice"))
        self.assertTrue(3500 < made < 6500 and late > made / 10 and twice > 5, told)
        mired.until("all is worked on", lambda: self.mired.sql("SELECT count(*) FROM inbox") == ["0"])
        mine = "app_id = (SELECT app_id FROM app WHERE slug = 'seeded')"
        counts = [int(self.mired.sql(f"SELECT count(*) FROM {table} WHERE {mine}")[0]) for table in ("event", "session", "memory_baseline")]
        self.assertEqual(sum(counts), made)
        self.assertGreater(counts[2], 20)
        self.assertEqual(self.mired.sql("SELECT count(*) FROM dead_letter"), ["0"])
        self.counters_agree()
        share = f"""SELECT (100 * avg((caller1 = 'decode_thumbnails')::int))::int FROM event JOIN issue USING (issue_id)
                    JOIN version USING (version_id) WHERE event.{mine} AND (version = '1.4.0') = """
        self.assertLess(int(self.mired.sql(share + "false")[0]), 10)
        self.assertGreater(int(self.mired.sql(share + "true")[0]), 20)
        self.check_seeded_memory(mine)

    def check_seeded_memory(self, mine):
        """Healthy processes, one leak that stands out, kills as many as the sessions tell; every report of memory adds up."""
        self.assertEqual(self.mired.get("/apps/seeded/healthy")["reports"], int(self.mired.sql(f"SELECT count(*) FROM memory_baseline WHERE {mine}")[0]))
        issues = self.mired.get(f"/apps/seeded/issues?t={KEEP_DAYS}d&kind=foom,memory&sort=-above")["groups"]
        self.assertEqual([group["above_bytes"] for group in issues], sorted((group["above_bytes"] for group in issues), reverse=True))
        issues = [issue for group in issues for issue in group["issues"]]
        planted = [issue for issue in issues if issue["caller1"] == "thumbnail_cache_put"]
        self.assertEqual({issue["subject"] for issue in planted}, {"Bitmap"})
        new = f"SELECT count(*) FROM event JOIN version USING (version_id) JOIN issue USING (issue_id) WHERE event.{mine} AND subject <> '' AND version = '1.4.0'"
        self.assertGreater(3 * int(self.mired.sql(new + " AND caller1 = 'thumbnail_cache_put'")[0]), int(self.mired.sql(new)[0]))
        reports = 0
        for issue in issues:
            for row in self.mired.get(f"/apps/seeded/issues/{issue['id']}/reports?t={KEEP_DAYS}d&limit=200")["reports"]:
                self.check_memory(issue, row, self.mired.get(f"/apps/seeded/issues/{issue['id']}/reports/{row['id']}/memory?t={KEEP_DAYS}d"))
                reports += 1
        self.assertEqual(self.mired.sql(f"SELECT count(*) FROM event WHERE {mine} AND category IN ('foom', 'memory')"), [str(reports)])
        self.assertGreater(reports, 5)
        told = {row["version"]: row["foom_percent"]["value"] for row in self.mired.get(f"/apps/seeded/versions?t={KEEP_DAYS}d")["versions"]}
        rows = self.mired.sql(f"SELECT version, 100.0 * sum(fooms) / sum(ends) FROM session JOIN version USING (version_id) WHERE session.{mine} GROUP BY 1")
        self.assertEqual(len(rows), len(told))
        for version, percent in (row.split("|") for row in rows):
            self.assertAlmostEqual(told[version], float(percent), delta=0.001)
        self.assertEqual(max(told, key=told.get), "1.4.0")

    def check_memory(self, issue, row, memory):
        """The parts of a footprint add up to it, and the stacks of a category to no more than it; the subject is far above the healthy."""
        counted = [category for category in memory["categories"] if category["kind"] != "gauge" and not category["of_allocator"]]
        self.assertEqual(sum(category["held_bytes"] for category in counted), memory["footprint_bytes"])
        self.assertLess(memory["footprint_bytes"], memory["limit_bytes"])
        blocks = [category for category in counted if category["kind"] in ("heap", "object")]
        self.assertEqual(sum(category["live_bytes"] for category in blocks), memory["live_bytes"])
        self.assertEqual(sum(category["live_count"] for category in blocks), memory["live_count"])
        self.assertEqual(sum(category["live_bytes"] for category in memory["categories"] if category["kind"] == "vm"), memory["mapped_bytes"])
        for at, category in enumerate(memory["categories"]):
            stacks = [stack["bytes"] for stack in memory["stacks"] if stack["category"] == at]
            self.assertEqual(len(stacks), category["stack_count"])
            self.assertTrue(not stacks or 0.9 * category["live_bytes"] < sum(stacks) <= category["live_bytes"], category)
        subject = next(category for category in memory["categories"] if category["name"] == issue["subject"])
        self.assertEqual((subject["suspect"]["rank"], subject["held_bytes"]), (1, row["subject_bytes"]))
        self.assertGreater(subject["held_bytes"], 3 * (subject["healthy_bytes"] or 0))
        self.assertEqual(memory["exit"] and memory["exit"]["verdict"], "foom" if issue["category"] == "foom" else None)

    def test_the_library_tells_its_clock(self):
        """A program that is killed while it hangs: the next start tells, and the kill counts when it happened."""
        key, store = self.mired.key("real", "ingest"), self.folder / "store"
        words = [RUN, "--app=real", "--threshold=300", f"--store={store}", f"--server={self.mired.url}"]
        script = "import select,time\npoll = select.poll().poll\npoll(200)\nprint(int(time.time() * 1000), flush=True)\ntime.sleep(%d)\npoll(200)\n"
        env = os.environ | {"MIRE_KEY": key}
        with subprocess.Popen([*words, "--", "python3", "-c", script % 600], stdout=subprocess.PIPE, env=env, text=True, start_new_session=True) as run:
            began = int(run.stdout.readline())
            time.sleep(3)
            os.killpg(run.pid, signal.SIGKILL)
        time.sleep(2)
        told = now_ms()
        subprocess.run([*words, "--", "python3", "-c", script % 0], env=env, check=True, stdout=subprocess.DEVNULL, timeout=300)
        seen = "SELECT count(*) FROM event JOIN app USING (app_id) WHERE slug = 'real' AND open"
        mired.until("the kill is told", lambda: self.mired.sql(seen) != ["0"])
        row = self.mired.sql("""SELECT (extract(epoch FROM e.occurred_at) * 1000)::bigint || ' ' || coalesce(r.clock_behind_ms::text, 'untold')
                                FROM event e JOIN app USING (app_id) JOIN report r USING (slot, day, report_id) WHERE slug = 'real' AND open""")
        self.assertLess(abs(int(row[0]) - began), 2000, row)
        self.assertLess(int(row[0]), told - 2000)
        self.assertNotEqual(row[1], "untold")
        self.assertTrue(-1000 < int(row[1]) < 60_000, row)


if __name__ == "__main__":
    unittest.main()
