#!/usr/bin/env python3
"""`mired doctor` against a server that is well, and against what can be wrong with one: each is named, with the next step."""

import pathlib
import re
import subprocess
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402
from cases import Served  # noqa: E402

ALERTS = mired.SOURCE / "deploy/alerts.yml"


class Doctor(Served):
    def ask(self, *settings, data=None):
        done = subprocess.run([mired.BINARY / "server/mired", "doctor", f"--data-dir={data or self.server.data}", *settings],
                              capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout

    def finding(self, about, *settings, **more):
        """Grade and next step of a finding."""
        lines = self.ask(*settings, **more)[1].splitlines()
        at = next((at for at, line in enumerate(lines) if about in line), None)
        self.assertIsNotNone(at, (about, lines))
        following = lines[at + 1] if at + 1 < len(lines) else ""
        return lines[at].split()[0], following.strip().removeprefix("next: ") if "next:" in following else ""

    def test_a_server_that_is_well(self):
        self.server.key("shop", "ingest")
        status, out = self.ask()
        self.assertEqual(status, 0, out)
        for about in ("configuration", "disk", "descriptors", "database", "clock", "partitions", "inbox", "rollups", "dead letters", "keys"):
            self.assertEqual(self.finding(about)[0], "ok", out)
        self.assertIn("0 bad", out)

    def test_a_sweep_tells_what_is_due_and_deletes_nothing(self):
        server = self.server

        def sweep(*words, status=0):
            done = subprocess.run([mired.BINARY / "server/mired", "sweep", *words, f"--data-dir={server.data}", "--retention-days=90"],
                                  capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, status, done)
            return done.stdout

        server.sql("INSERT INTO app (app_id, slug, name, retention_days) VALUES (9101, 'due-short', 'S', 20), (9102, 'due-ever', 'E', 0),"
                   " (9103, 'due-usual', 'U', NULL)")
        server.sql("INSERT INTO report (slot, day, report_id, app_id, format, encoding, body) SELECT 1, current_date - d, gen_random_uuid(),"
                   " app_id, 'mire', 'identity', '{}' FROM unnest(ARRAY[10, 25, 100]) d, unnest(ARRAY[9101, 9102, 9103]) app_id")
        # A clock that is wrong by decades: its row is as old as its receipt.
        server.sql("INSERT INTO report (slot, day, report_id, app_id, format, encoding, body) VALUES (1, '1999-01-01', gen_random_uuid(), 9103,"
                   " 'mire', 'identity', '{}')")
        server.sql("UPDATE report SET received_at = now() - (current_date - day) * interval '1 day' WHERE app_id > 9100 AND day > '2000-01-01'")
        server.sql("INSERT INTO inbox (slot, day, report_id, app_id, not_before) VALUES (1, '2090-01-01', gen_random_uuid(), 9101, 'infinity')")
        try:
            before = server.sql("SELECT count(*) FROM report")
            told = sweep("--dry-run")
            self.assertRegex(told, r"due-short +keeps 20 days: 2 reports of 2 days are due, 4 bytes, the oldest of \d{4}-\d\d-\d\d\n")
            self.assertRegex(told, r"due-ever +keeps reports for ever\n")
            self.assertRegex(told, r"due-usual +keeps 90 days: 1 reports of 1 days are due")
            self.assertIn("1 rows of the inbox and 0 dead letters have no report", told)
            self.assertIn("0 debug files are in no report's frames any more", told)
            self.assertRegex(sweep("--dry-run", "70"), r"due-short +keeps 20 days: 3 reports")
            self.assertEqual(server.sql("SELECT count(*) FROM report"), before)
            sweep(status=2)
            sweep("--dry-run", "ten", status=2)
        finally:
            server.sql("DELETE FROM inbox WHERE app_id > 9100; DELETE FROM report WHERE app_id > 9100; DELETE FROM app WHERE app_id > 9100")

    def test_page_of_its_health_has_the_same(self):
        server = self.server
        server.sql("INSERT INTO app (app_id, slug, name) VALUES (9078, 'loud', 'Loud')")
        server.sql("INSERT INTO access_key (app_id, scope, prefix, hash, label) VALUES (9078, 'ingest', 'mk_x', decode(repeat('ab', 32), 'hex'), 'stolen')")
        server.sql("INSERT INTO report (slot, day, report_id, app_id, key_id, format, encoding, body) SELECT 1, (now() AT TIME ZONE 'UTC')::date,"
                   " gen_random_uuid(), 9078, CASE WHEN n > 2 THEN (SELECT key_id FROM access_key WHERE label = 'stolen') ELSE 0 END, 'mire',"
                   " 'identity', '{}' FROM generate_series(1, 8) n")
        server.sql("INSERT INTO door_day (slot, day, app_id, outcome, reports, bytes) SELECT 0, (now() AT TIME ZONE 'UTC')::date, 9078, o, n, 1"
                   " FROM (VALUES ('stored', 8), ('too_often', 4000), ('quota', 50)) v (o, n)")
        try:
            health = server.get("/server/health")
            out = self.ask()[1]
            for one in health["findings"]:
                self.assertIn(f"{one['grade']:4}  {one['about']}: ", out)
                self.assertIn(one["next"], out)
            self.assertEqual(len(health["findings"]), len(re.findall(r"(?m)^(?:ok|look|bad) ", out)))
            self.assertEqual((health["bad"], health["look"]), tuple(map(int, re.findall(r"\d+", out.splitlines()[-1]))))
            self.assertEqual(self.finding("flood: loud: 4000 reports refused today by the rate limit, 50 beyond the budget; most come with the"
                                          " key stolen")[0], "look")
            self.assertEqual(health["floods"], [{"app": "loud", "stored": 8, "too_often": 4000, "beyond_quota": 50, "key": "stolen",
                                                 "key_share": 0.75}])
        finally:
            server.sql("DELETE FROM door_day WHERE app_id = 9078")
            server.sql("DELETE FROM report WHERE app_id = 9078")
            server.sql("DELETE FROM access_key WHERE app_id = 9078")
            server.sql("DELETE FROM app WHERE app_id = 9078")
        self.assertEqual(server.get("/server/health")["floods"], [])

    def test_counts_that_nobody_merges(self):
        with self.server.locked("standing"):
            self.server.sql("INSERT INTO standing_delta (slot, app_id, made_at, bytes) VALUES (0, 9079, now() - interval '10 minutes', '')")
            try:
                grade, following = self.finding("rollups: 1 batches wait to be added")
                self.assertEqual(grade, "look")
                self.assertIn("rollup.merge", following)
                found = re.search(r"(?m)^mire_rollup_oldest_seconds (\S+)$", self.server.ask("GET", "/metrics")[2].decode())
                self.assertGreaterEqual(float(found[1]), 600)
            finally:
                threading.Thread(target=self.server.sql, args=("DELETE FROM standing_delta WHERE app_id = 9079",)).start()
        mired.until("it is gone", lambda: self.server.sql("SELECT count(*) FROM standing_delta WHERE app_id = 9079") == ["0"])
        self.assertEqual(self.finding("rollups")[0], "ok")

    def test_a_question_that_took_long_is_remembered(self):
        self.server.key("late", "ingest")
        answers = []
        question = threading.Thread(target=lambda: answers.append(self.server.get("/apps/late/issues?t=24h")))
        with self.server.locked("rollup"):
            question.start()
            mired.until("it waits", lambda: self.server.waiting_for("rollup"))
            time.sleep(2)  # longer than the second from which on questions are remembered
        question.join()
        self.assertEqual(len(answers), 1)
        slow = [one for one in self.server.get("/server/health")["slow"] if one["app"] == "late"]
        self.assertEqual([(one["route"], one["days"]) for one in slow], [("/api/v1/apps/{app}/issues", slow[0]["days"])])
        self.assertIn(slow[0]["days"], (1, 2))  # its range is whole hours
        self.assertGreaterEqual(slow[0]["longest_ms"], 1000)

    def test_alerts_ask_for_metrics_that_there_are(self):
        metrics = self.server.ask("GET", "/metrics")[2]
        metrics = metrics if isinstance(metrics, str) else metrics.decode()
        asked = re.findall(r"^ +expr: (.*)$", ALERTS.read_text(), re.M)
        self.assertGreater(len(asked), 5)
        for expression in asked:
            for name in re.findall(r"\bmire_\w+", expression):
                self.assertRegex(metrics, rf"(?m)^# TYPE {name} ")
            for outcomes in re.findall(r'outcome=~?"([^"]*)"', expression):
                for outcome in outcomes.split("|"):
                    self.assertIn(f'outcome="{outcome}"', metrics)

    def test_no_database(self):
        grade, next_step = self.finding("database", data=self.folder / "nothing")
        self.assertEqual(grade, "bad")
        self.assertIn("start mired", next_step)
        self.assertEqual(self.finding("data_dir", data=self.folder / "nothing")[0], "bad")
        grade, next_step = self.finding("database", "--database-url=postgresql://127.0.0.1:1/none")
        self.assertEqual(grade, "bad")
        self.assertIn("may this user connect", next_step)
        self.assertEqual(self.ask("--database-url=postgresql://127.0.0.1:1/none")[0], 1)

    def test_settings(self):
        self.assertEqual(self.finding("configuration", "--workers=0")[0], "bad")
        self.assertEqual(self.finding("reached from", "--listen=0.0.0.0:7117")[0], "look")
        self.assertEqual(self.finding("public_url", "--listen=0.0.0.0:7117")[0], "look")
        self.assertEqual(self.finding("reached from", "--listen=0.0.0.0:7117", "--tls-cert=/x", "--public-url=https://a.example")[0], "ok")

    def test_queues_and_partitions(self):
        sql = self.server.sql
        sql("INSERT INTO app (app_id, slug, name) VALUES (77, 'other', 'Other')")
        sql("INSERT INTO inbox (slot, day, report_id, app_id, queued_at, not_before) VALUES (1, current_date, gen_random_uuid(), 77,"
            " now() - interval '1 hour', 'infinity')")
        sql("INSERT INTO dead_letter (slot, day, report_id, app_id, stage, reason) VALUES (1, current_date, gen_random_uuid(), 77,"
            " 'decode', 'a test')")
        try:
            grade, next_step = self.finding("inbox")
            self.assertEqual(grade, "bad")
            self.assertIn("workers", next_step)
            self.assertEqual(self.finding("dead letters")[0], "look")
            self.assertEqual(self.ask()[0], 1)
        finally:
            sql("DELETE FROM inbox")
            sql("DELETE FROM dead_letter")
        self.assertEqual(self.finding("inbox")[0], "ok")
        sql("CREATE TABLE report_20200101 PARTITION OF report FOR VALUES FROM ('20200101') TO ('20200102')")
        sql("CREATE TABLE report_20200102 PARTITION OF report FOR VALUES FROM ('20200102') TO ('20200103')")
        try:
            self.assertEqual(self.finding("retention: 2 days")[0], "look")
            self.assertEqual(self.finding("retention: 0 days", "--retention-days=0")[0], "ok")
        finally:
            sql("DROP TABLE report_20200101, report_20200102")
        sql("UPDATE access_key SET expires_at = now() + interval '3 days'")
        self.server.key("third", "ingest")
        sql("UPDATE access_key SET expires_at = now() + interval '3 days'")
        try:
            self.assertEqual(self.finding("keys that expire")[0], "look")
        finally:
            sql("UPDATE access_key SET expires_at = NULL")
        sql("DELETE FROM schema_migration WHERE number = (SELECT max(number) FROM schema_migration)")
        grade, next_step = self.finding("tables")
        self.assertEqual(grade, "bad")
        self.assertIn("mired migrate", next_step)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
