#!/usr/bin/env python3
"""Reports that are taken out again: every counter is as if they had never come."""

import json
import pathlib
import random
import sys
import threading
import time
import unittest
import uuid

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402

VECTORS = mired.SOURCE / "schema/wire/vectors"
COUNTERS = {  # every table that sums something over reports, and what is left of single ones
    "version_hour": "slot, hour, version_id, category, reports, round(events::numeric, 3), round(waited_ms::numeric, 3), longest_ms",
    "issue_hour": "slot, hour, issue_id, version_id, tree, reports, round(events::numeric, 3), round(waited_ms::numeric, 3),"
                  " longest_ms, last_at, most_bytes, round(above_bytes::numeric, 0)",
    "turn_hour": "slot, hour, version_id, from_ms, round(turns::numeric, 3)",
    "loss_day": "slot, day, version_id, reason, lost",
    "issue_memory": "slot, day, issue_id, version_id, tree, md5(population)",
    "healthy": "slot, version_id, os, device_class, last_at, md5(population)",
    "issue WHERE issue_id IN (SELECT issue_id FROM issue_hour)": "issue_id, first_seen, first_version_id",
    "session_day": "slot, day, version_id, channel, plugins, records, " + ", ".join(
        f"round({column}::numeric, 2)" for column in ("sessions", "sessions_sq", "time_ms", "sdk_cpu_us", "watched", "watched_sq",
                                                      "watched_ms", "lagging", "hangs", "hang_ms", "hang_hang_sq",
                                                      "hang_time_sq", "time_time_sq")),
    "arrival_day": "slot, day, kind, delay, round(events::numeric, 3)",
    "session_end_day": "slot, day, version_id, channel, plugins, verdict, round(ends::numeric, 3), round(ends_sq::numeric, 3)",
    "report": "slot, day, report_id", "event": "slot, day, report_id, weight", "event_stack": "slot, day, report_id",
    "report_missing": "slot, day, report_id, set_id", "memory_baseline": "slot, day, report_id",
    "session": "slot, day, report_id, weight", "inbox": "slot, day, report_id", "dead_letter": "slot, day, report_id",
}
ROLLOUT = {"fetch_s": 3600, "kill": False, "rules": [{"name": "all", "when": {}, "plugins": {
    name: {"probability": 0.25} for name in ("hang", "memory", "exit", "session")}}]}


def documents():
    """Reports of every kind, as the vectors of the wire format have them."""
    paths = sorted(VECTORS.glob("valid/*/report.json")) + sorted(VECTORS.glob("session/valid/*/document.json"))
    found = []
    for path in paths:
        try:
            found.append(json.loads(path.read_text()))
        except ValueError:
            continue  # white space and escapes that this reader does not take
    assert len(found) > 30, len(found)
    healthy = [json.loads(json.dumps(one)) for one in found if one["kind"] == "memory"]
    for one in healthy:
        one["memory"]["trigger"] = "baseline"
    found += healthy
    assert {"event", "memory", "session"} <= {one["kind"] for one in found}
    return found


class Forgotten(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pick = random.Random(34)
        cls.scratch = mired.scratch("forget")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.server = mired.Mired(pathlib.Path(cls.scratch.name))
        cls.addClassCleanup(cls.server.stop)
        cls.ingest, cls.admin = cls.server.key("shop", "ingest"), cls.server.key("shop", "admin")
        rollout = cls.server.key("shop", "rollout")
        mired.until("the key is known", lambda: cls.server.ask("GET", "/api/v1/rollout", cls.ingest)[0] == 200)
        status, _, body = cls.server.ask("PUT", "/api/v1/apps/shop/rollout", rollout, {
            "base": 0, "author": "kim", "reason": "a quarter", "rules": ROLLOUT})
        assert status == 201, body

    def send(self, document, install, key=None, id=None):
        """Send a report as of that installation; its id."""
        document = json.loads(json.dumps(document))
        document["id"] = id or mired.report_id()
        document["device"]["install"] = install
        for part, time_of in (("event", "begin_wall_ms"), ("session", "begin_wall_ms"), ("memory", "taken_wall_ms")):
            if time_of in document.get(part, {}):  # within the last days, so that it is believed
                document[part][time_of] = int(time.time() * 1000) - self.pick.randrange(3 * 86_400_000)
        status, _, body = self.server.ask("POST", "/api/v1/reports", key or self.ingest, document)
        self.assertEqual(status, 202, body)
        return document["id"]

    def worked(self):
        mired.until("all is worked on", lambda: self.server.sql("SELECT count(*) FROM inbox") == ["0"])

    def counters(self):
        """All rows of each table."""
        self.worked()
        query = " UNION ALL ".join(f"SELECT '{number}|' || translate(concat_ws('|', {columns}), ' ', 'T') FROM {table}"
                                   for number, (table, columns) in enumerate(COUNTERS.items()))
        found = [line.split("|", 1) for line in self.server.sql(query)]
        return {table: {row for at, row in found if at == str(number)} for number, table in enumerate(COUNTERS)}

    def compare(self, before):
        after = self.counters()
        for table, rows in before.items():
            self.assertEqual((after[table] - rows, rows - after[table]), (set(), set()), table)

    def forget(self, *words, **env):
        return self.server.mire("forget", "shop", "--reason", "they were made up", *words, MIRE_KEY=self.admin, **env)

    def test_an_installation_goes_with_its_share_of_every_counter(self):
        honest, other = uuid.uuid4().hex, uuid.uuid4().hex
        for document in documents():
            self.send(document, honest)
        before = self.counters()
        self.assertTrue(all(before[table] for table in before if table not in ("inbox", "dead_letter")),
                        {table for table in before if not before[table]})
        count = sum(bool(self.send(document, other)) for document in documents())
        self.worked()
        self.assertIn(f"{count} reports would be forgotten", self.forget("--install", other, "--dry-run"))
        self.assertIn(f"{count} reports are forgotten", self.forget("--install", other))
        self.compare(before)
        self.assertIn("0 reports are forgotten", self.forget("--install", other))
        listed = self.server.mire("forget", "list", "shop", MIRE_KEY=self.admin)
        self.assertIn(other, listed)
        self.assertIn("they were made up", listed)

    def test_all_that_a_key_sent_goes_whatever_installations_it_named(self):
        before = self.counters()
        stolen = self.server.key("shop", "ingest")
        mired.until("the key is known", lambda: self.server.ask("GET", "/api/v1/rollout", stolen)[0] == 200)
        for document in documents()[:12]:
            self.send(document, uuid.uuid4().hex, stolen)
        number = self.server.sql("SELECT max(key_id) FROM access_key WHERE scope = 'ingest'")[0]
        self.assertIn("12 reports are forgotten", self.forget("--key", number))
        self.compare(before)

    def test_one_report_goes_and_may_come_again(self):
        before = self.counters()
        document = documents()[0]
        id = self.send(document, uuid.uuid4().hex)
        self.assertIn("1 reports are forgotten", self.forget("--report", id))
        self.compare(before)
        self.send(document, uuid.uuid4().hex, id=id)
        self.worked()
        self.assertIn("1 reports are forgotten", self.forget("--report", id))
        self.compare(before)

    def test_a_report_that_could_not_be_read_goes_too(self):
        before = self.counters()
        id = mired.report_id()
        self.server.sql("INSERT INTO report (slot, day, report_id, app_id, format, encoding, body) SELECT 7, current_date, "
                        f"'{id}', app_id, 'mire', 'identity', '}}' FROM app WHERE slug = 'shop'")
        self.server.sql("INSERT INTO inbox (slot, day, report_id, app_id) SELECT slot, day, report_id, app_id FROM report"
                        f" WHERE report_id = '{id}'")
        mired.until("it is a dead letter", lambda: self.server.sql("SELECT count(*) FROM dead_letter") == ["1"])
        self.assertIn("1 reports are forgotten", self.forget("--report", id))
        self.compare(before)

    def test_reports_are_taken_out_while_others_come_and_stored_ones_are_derived_anew(self):
        honest, other = uuid.uuid4().hex, uuid.uuid4().hex
        all_documents, stop = documents(), threading.Event()
        for document in all_documents:
            self.send(document, other)
        self.worked()
        sent = []

        def go_on():
            pick = random.Random(7)
            while not stop.is_set() and len(sent) < 100:
                sent.append(self.send(pick.choice(all_documents), honest))

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            symbols = self.server.key("shop", "symbols")
            mired.until("the key is known", lambda: self.server.ask(
                "POST", "/api/v1/apps/shop/rekey", symbols, {"preview": False})[0] == 202)
            self.forget("--install", other)
        finally:
            stop.set()
            thread.join()
        self.assertTrue(sent)
        after = self.counters()
        # Whatever order all of it went in: the same as the sums of the events that are there.
        self.assertEqual(self.server.sql("SELECT sum(reports) FROM version_hour"), self.server.sql("SELECT count(*) FROM event"))
        self.assertEqual(self.server.sql("SELECT sum(reports) FROM issue_hour"), self.server.sql("SELECT count(*) FROM event"))
        self.assertEqual(self.server.sql("SELECT round(sum(events)::numeric, 3) FROM issue_hour"),
                         self.server.sql("SELECT round(sum(weight * (1 + suppressed))::numeric, 3) FROM event"))
        self.assertEqual(self.server.sql("SELECT sum(records) FROM session_day"), self.server.sql("SELECT count(*) FROM session"))
        self.assertEqual(self.server.sql(f"SELECT count(*) FROM event WHERE install = '\\x{other}'"), ["0"])
        self.assertTrue(after["report"])

    def test_a_server_that_is_killed_goes_on_with_it(self):
        before, other = self.counters(), uuid.uuid4().hex
        for _ in range(3):
            for document in documents():
                self.send(document, other)
        self.worked()
        count = int(self.server.sql(f"SELECT count(*) FROM event WHERE install = '\\x{other}'")[0])
        status, _, body = self.server.ask("POST", "/api/v1/apps/shop/forget", self.admin, {
            "install": other, "reason": "a request", "preview": False})
        self.assertEqual(status, 200, body)
        mired.until("some are gone", lambda: int(self.server.sql(
            f"SELECT count(*) FROM event WHERE install = '\\x{other}'")[0]) < count)
        self.server.kill()
        self.server.start()
        mired.until("it is done", lambda: self.server.sql("SELECT count(*) FROM forget_job WHERE state <> 'done'") == ["0"])
        self.compare(before)

    def test_whose_is_said_in_one_way_and_by_who_may(self):
        asked = {"reason": "a test", "preview": True}
        path = "/api/v1/apps/shop/forget"
        one = {"install": uuid.uuid4().hex}
        for more, status in ((one, 200), ({"report": mired.report_id()}, 200), ({"key": 1}, 200), ({}, 422), ({**one, "key": 1}, 422),
                             ({"install": "x" * 32}, 422), ({"report": "x"}, 422), ({**one, "t": "soon"}, 422), ({**one, "reason": " "}, 422),
                             ({**one, "t": "24h"}, 200)):
            self.assertEqual(self.server.ask("POST", path, self.admin, {**asked, **more})[0], status, more)
        keys = {scope: self.server.key("shop", scope) for scope in ("ingest", "symbols", "rollout", "rules", "read")}
        mired.until("the keys are known", lambda: self.server.ask("GET", "/api/v1/apps", keys["read"])[0] == 200)
        for scope, key in keys.items():
            self.assertIn(self.server.ask("POST", path, key, {**asked, **one})[0], (401, 403), scope)
        self.assertIn(self.server.ask("POST", path, None, {**asked, **one})[0], (401, 403))


if __name__ == "__main__":
    unittest.main(warnings="ignore")
