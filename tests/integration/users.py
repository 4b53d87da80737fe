#!/usr/bin/env python3
"""Rates of user days and percentiles of quantities of sessions, by version and by every facet, against a count of the session records: before and after installations are forgotten,
and more installations than are counted exactly."""

import pathlib
import random
import sys
import time
import unittest
import uuid

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402
from cases import Served  # noqa: E402
from answers import answer_of  # noqa: E402

DAY_MS = 86400_000
SHARE = 0.1  # of the installations that send records, as a rollout begins
FACETS = {"version": ("app", "version"), "os": ("device", "os"), "os_version": ("device", "os_version"), "arch": ("device", "arch"),
          "model": ("device", "model"), "process": ("process", "name"), "class": ("device", "class"), "channel": ("app", "channel")}


def noon(days_ago):
    return (int(time.time() * 1000) // DAY_MS - 1 - days_ago) * DAY_MS + DAY_MS // 2


def record(rng, device, began_ms):
    """A session of an installation, whose device and trouble are drawn."""
    hangs = rng.choice([0, 0, 0, 2])
    kind = rng.randrange(3)
    told = {"cpu_ms": rng.randrange(90000), "footprint_peak_bytes": rng.randrange(1 << 30), "launch_ms": rng.randrange(9000),
            "frames": {"drawn": rng.randrange(900), "dropped": rng.randrange(40)}}
    return {
        "mire": 1, "id": mired.report_id(), "kind": "session",
        "app": {"name": "a", "version": rng.choice(["1.0", "1.1"]), "channel": rng.choice(["public", "gray"])},
        "device": {"install": uuid.UUID(int=device).hex, "os": "linux", "os_version": ["6.1", "6.2", "6.6"][kind], "arch": "x86_64",
                   "model": ["Pixel 7", "X", ""][device % 3], "class": "4gb"},
        "process": {"pid": 1, "name": "a"}, "sampling": {"session": SHARE},
        "session": {"begin_wall_ms": began_ms, "duration_ms": 60000, "loop": rng.random() < 0.9, "on": ["hang", "session"],
                    "hangs": {"foreground": {"count": hangs, "duration_ms": hangs * 900}},
                    "ends": [{"verdict": rng.choice(["clean_exit", "foom", "crash", "abort", "watchdog_kill"])}] if rng.random() < 0.8 else []}
        | {name: value for name, value in told.items() if rng.random() < 0.8},
    }


def counted(records):
    """The figures of part_users, counted one by one."""
    days = lambda wanted: {(r["device"]["install"], r["session"]["begin_wall_ms"] // DAY_MS) for r in records if wanted(r)}
    watched = lambda r: r["session"]["loop"]
    ends = lambda *verdicts: lambda r: any(e["verdict"] in verdicts or not verdicts for e in r["session"]["ends"])
    share = lambda part, of: len(days(part)) / len(days(of)) * 100 if days(of) else None
    return {"devices": len({r["device"]["install"] for r in records}) / SHARE, "days": len(days(lambda r: True)) / SHARE,
            "sessions_per_day": len(records) / len(days(lambda r: True)),
            "lag_percent": share(lambda r: watched(r) and r["session"]["hangs"]["foreground"]["count"], watched),
            "foom_percent": share(ends("foom"), ends()), "watchdog_percent": share(ends("watchdog_kill"), ends()),
            "crash_percent": share(ends("crash", "abort"), ends())}


def quantities(records):
    """The values behind each of `spreads`."""
    sessions = [r["session"] for r in records]
    frames = [s["frames"] for s in sessions if sum(s.get("frames", {}).values())]
    return {"footprint_peak_bytes": [s["footprint_peak_bytes"] for s in sessions if "footprint_peak_bytes" in s],
            "launch_ms": [s["launch_ms"] for s in sessions if "launch_ms" in s],
            "cpu_percent": [s["cpu_ms"] * 100 / s["duration_ms"] for s in sessions if "cpu_ms" in s],
            "dropped_percent": [f["dropped"] * 100 / (f["drawn"] + f["dropped"]) for f in frames]}


class UsersTest(Served):
    def send(self, app, records):
        key = self.server.key(app, "ingest")
        for one in records:
            status, _, body = self.server.ask("POST", "/api/v1/reports", key, one)
            self.assertEqual(status, 202, body)
        mired.until("all are counted", lambda: self.rates(app)["total"]["records"] == len(records))

    def rates(self, app, query=""):
        return answer_of(self.server.ask("GET", f"/api/v1/apps/{app}/rates?t=14d{query}")[2], "getRates")

    def same(self, told, want, within=1e-3):
        for name, value in want.items():
            got = told[name]
            if isinstance(got, dict):
                self.assertTrue(got["low"] <= got["value"] <= got["high"], (name, got))
                got = got["value"]
            if value is None:
                self.assertIsNone(got, name)
            else:
                self.assertAlmostEqual(got, value, delta=max(within * abs(value), 2e-3), msg=name)

    def same_spreads(self, told, records):
        for name, values in quantities(records).items():
            if not values:
                self.assertIsNone(told[name], name)
                continue
            self.assertAlmostEqual(told[name]["sessions"], len(values) / SHARE, msg=name)
            for percent in (50, 90, 95, 99):
                value = sorted(values)[-(-percent * len(values) // 100) - 1]
                self.assertAlmostEqual(told[name][f"p{percent}"], value, delta=value / 32 + 0.011, msg=(name, percent))

    def check(self, app, records):
        answer = self.rates(app)
        self.same(answer["total"]["users"], counted(records))
        self.same_spreads(answer["total"]["spreads"], records)
        listed = answer_of(self.server.ask("GET", f"/api/v1/apps/{app}/versions?t=14d")[2], "getVersions")["versions"]
        for row in listed:
            self.same_spreads(row["spreads"], [r for r in records if r["app"]["version"] == row["version"]])
        compared = answer_of(self.server.ask("GET", f"/api/v1/apps/{app}/changes?t=14d&v=1.1&against=1.0")[2], "getChanges")
        for side in ("before", "after"):
            self.same_spreads(compared[side]["rates"]["spreads"], [r for r in records if r["app"]["version"] == compared[side]["version"]])
        for row in answer["versions"]:
            self.same(row["users"], counted([r for r in records if r["app"]["version"] == row["version"]]))
        for facet, (section, member) in FACETS.items():
            rows = {row["value"]: row for row in self.rates(app, f"&by={facet}")["values"]}
            self.assertEqual(set(rows), {r[section][member] for r in records}, facet)
            for value, row in rows.items():
                own = [r for r in records if r[section][member] == value]
                self.same(row["users"], counted(own))
                self.same_spreads(row["spreads"], own)
                self.assertEqual((row["records"], row["sessions"]), (len(own), len(own) / SHARE))

    def test_user_days_are_what_a_count_says(self):
        rng = random.Random(7)
        records = [record(rng, rng.randrange(1, 30), noon(rng.randrange(5))) for _ in range(160)]
        self.send("few", records)
        self.check("few", records)
        mired.until("the deltas are merged", lambda: self.server.sql("SELECT count(*) FROM rollup_delta") == ["0"])
        self.check("few", records)
        admin, gone = self.server.key("few", "admin"), uuid.UUID(int=7).hex
        self.assertTrue(any(r["device"]["install"] == gone for r in records))
        self.server.mire("forget", "few", "--install", gone, "--reason", "asked", MIRE_KEY=admin)
        left = [r for r in records if r["device"]["install"] != gone]
        mired.until("the days are made anew", lambda: self.rates("few")["total"]["records"] == len(left)
                    and self.server.sql("SELECT count(*) FROM rollup_due") == ["0"])
        self.check("few", left)
        text = self.server.mire("rates", "--app", "few", "--by", "model", MIRE_KEY=self.server.key("few", "read"))
        self.assertRegex(text, r"(?s)VALUE.*Pixel 7.*USER DAYS.*Pixel 7")
        text = self.server.mire("versions", "--app", "few", MIRE_KEY=self.server.key("few", "read"))
        self.assertRegex(text, r"LAUNCH P90 +MEMORY P90 +CPU P90 +DROPPED P90[^\n]*\n1\.1 .* [0-9.]+ s +[0-9]+ MB +[0-9.]+ % +[0-9.]+ %")

    def test_one_version_and_one_facet_at_a_time(self):
        records = [record(random.Random(n), 40 + n, noon(0)) for n in range(20)]
        self.send("one", records)
        own = [r for r in records if r["app"]["version"] == "1.1"]
        self.same(self.rates("one", "&v=1.1")["total"]["users"], counted(own))
        self.assertIsNone(self.rates("one", "&channel=public")["total"]["users"])
        for wrong in ("&by=model&v=1.1", "&by=model&channel=public", "&by=colour"):
            self.assertEqual(self.server.ask("GET", f"/api/v1/apps/one/rates?t=14d{wrong}")[0], 400, wrong)

    def test_many_installations_are_estimated(self):
        records = [record(random.Random(n), 1000 + n % 600, noon(0)) for n in range(700)]
        self.send("many", records)
        told, want = self.rates("many")["total"]["users"], counted(records)
        for name in ("devices", "days"):
            self.assertAlmostEqual(told[name], want[name], delta=0.15 * want[name], msg=name)


if __name__ == "__main__":
    unittest.main()
