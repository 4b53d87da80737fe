#!/usr/bin/env python3
"""The budget of a day, and the counts of the door: every report that came is in one of them."""

import collections
import json
import pathlib
import random
import socket
import sys
import threading
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402
from cases import Served  # noqa: E402

BUDGET = 20


class Quota(Served):
    def app(self, name, **settings):
        """Keys of a new app whose settings mired knows."""
        ingest, admin = self.server.key(name, "ingest"), self.server.key(name, "admin")
        path = f"/api/v1/apps/{name}/settings"
        mired.until("the key is known", lambda: self.server.ask("GET", path, admin)[0] == 200)
        mired.until("the key is known", lambda: self.server.ask("GET", "/api/v1/rollout", ingest)[0] == 200)
        status, _, body = self.server.ask("PUT", path, admin, {"name": name, "retention_days": None, **settings})
        self.assertEqual(status, 200, body)
        self.server.ask("POST", "/api/v1/reports", ingest, b"{")  # the door knows the app now, and asks for its budget
        self.until_counted(admin, name, body_refused=1)
        return ingest, admin

    def send(self, key, id=None, more=0):
        status, _, body = self.server.ask("POST", "/api/v1/reports", key, mired.report(id or mired.report_id(), more))
        return status, json.loads(body)

    def counts(self, admin, app):
        _, _, body = self.server.ask("GET", f"/api/v1/apps/{app}/settings", admin)
        counts = collections.Counter()
        for row in json.loads(body)["door"]:  # the day may change meanwhile
            counts[row["outcome"]] += row["reports"]
        return counts

    def until_counted(self, admin, app, **expected):
        mired.until(f"{expected}", lambda: all(self.counts(admin, app)[name] == n for name, n in expected.items()), 60)
        return self.counts(admin, app)

    def test_beyond_the_budget_reports_are_counted_and_examples_kept(self):
        ingest, admin = self.app("shop", quota_reports_day=BUDGET)
        answers = [self.send(ingest) for _ in range(BUDGET + 70)]
        self.assertEqual({status for status, _ in answers}, {202})
        kept = [body["report_id"] for _, body in answers if body.get("kept", True)]
        self.assertEqual(len(kept), BUDGET + 2)  # the first beyond it, and the 65th
        self.until_counted(admin, "shop", stored=BUDGET + 2, quota=68)
        self.assertEqual(self.server.sql("SELECT count(*) FROM report JOIN app USING (app_id) WHERE slug = 'shop'"), [str(len(kept))])
        overview = json.loads(self.server.ask("GET", "/api/v1/apps/shop/overview?t=24h", admin)[2])
        self.assertEqual(overview["over_quota"], 68)
        # The sums of the day outlive the process, and another budget holds at once.
        self.server.stop()
        self.server.start()
        self.server.ask("POST", "/api/v1/reports", ingest, b"{")
        self.until_counted(admin, "shop", body_refused=2)
        self.assertEqual([self.send(ingest)[1].get("kept", True) for _ in range(3)], [True, False, False])
        path = "/api/v1/apps/shop/settings"
        self.assertEqual(self.server.ask("PUT", path, admin, {"name": "shop", "retention_days": None, "quota_reports_day": 0})[0], 200)
        mired.until("the budget is gone", lambda: [self.send(ingest)[1].get("kept", True) for _ in range(3)] == [True] * 3, 60)

    def test_installations_that_are_left_out_are_counted_nowhere(self):
        farm, user = mired.report_id(), mired.report_id()
        install = json.loads(mired.report(farm))["device"]["install"]
        ingest, admin = self.app("farm", left_out=[install])
        path = "/api/v1/apps/farm/settings"
        self.assertEqual(json.loads(self.server.ask("GET", path, admin)[2])["left_out"], [install])
        for wrong in ([install.upper()], [install[:-1]], ["x" * 32], [install] * 101, install):
            self.assertEqual(self.server.ask("PUT", path, admin, {"name": "farm", "retention_days": None, "left_out": wrong})[0], 422, wrong)
        self.assertEqual(self.send(ingest, farm)[0], 202)
        body = json.loads(mired.report(user))
        body["device"]["install"] = "e" * 32
        self.assertEqual(self.server.ask("POST", "/api/v1/reports", ingest, json.dumps(body).encode())[0], 202)
        seen = "SELECT encode(install, 'hex') FROM event JOIN app USING (app_id) WHERE slug = 'farm'"
        mired.until("the other one is counted", lambda: self.server.sql(seen) == ["e" * 32])
        waiting = "SELECT count(*) FROM inbox JOIN app USING (app_id) WHERE slug = 'farm'"
        mired.until("nothing waits", lambda: self.server.sql(waiting) == ["0"])
        self.assertEqual(self.server.sql(seen), ["e" * 32])
        self.assertEqual(self.server.ask("PUT", path, admin, {"name": "farm", "retention_days": None, "left_out": []})[0], 200)
        self.assertEqual(self.send(ingest)[0], 202)
        mired.until("it is counted again", lambda: sorted(self.server.sql(seen)) == sorted(["e" * 32, install]))

    def test_a_budget_of_bytes_and_another_app(self):
        ingest, admin = self.app("large", quota_bytes_day=50_000)
        other, _ = self.app("other")
        kept = [self.send(ingest, more=9_000)[1].get("kept", True) for _ in range(12)]
        self.assertEqual(kept, [True] * kept.index(False) + [False] * (12 - kept.index(False)))
        self.assertLess(kept.index(False), 8)
        self.assertTrue(all(self.send(other)[1].get("kept", True) for _ in range(12)))
        foreign = json.loads(self.server.ask("GET", "/api/v1/apps/large/settings", admin)[2])
        self.assertEqual((foreign["quota_bytes_day"], foreign["quota_reports_day"]), (50_000, None))

    def test_all_that_came_is_in_one_count(self):
        """Reports new and sent again, broken ones, and connections that are cut at any byte."""
        ingest, admin = self.app("mixed", quota_reports_day=60)
        pick, tally, lock = random.Random(7), collections.Counter(body_refused=1), threading.Lock()
        ids = [mired.report_id() for _ in range(60)]
        jobs = [("send", id) for id in ids + ids[:30]] + [("broken", "")] * 10 + [("cut", mired.report_id()) for _ in range(40)]
        pick.shuffle(jobs)

        def cut(id):
            body = mired.report(id, 2_000)
            head = f"POST /api/v1/reports HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {ingest}\r\nContent-Length: {len(body)}\r\n\r\n"
            whole = head.encode() + body
            with socket.create_connection(("127.0.0.1", self.server.port)) as peer:
                peer.sendall(whole[:pick.randrange(len(whole) - 1)])  # never whole: it is no report that came

        def work():
            while True:
                with lock:
                    if not jobs:
                        return
                    kind, id = jobs.pop()
                if kind == "cut":
                    cut(id)
                    continue
                status = self.server.ask("POST", "/api/v1/reports", ingest, b"{" if kind == "broken" else mired.report(id))[0]
                with lock:
                    tally["body_refused" if kind == "broken" else "accepted"] += 1
                self.assertEqual(status, 400 if kind == "broken" else 202)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(tally, {"accepted": 90, "body_refused": 11})
        counts = {}

        def all_there():
            counts.clear()
            counts.update(self.counts(admin, "mixed"))
            return counts.get("stored", 0) + counts.get("duplicate", 0) + counts.get("quota", 0) >= 90

        mired.until("all are counted", all_there, 60)
        self.assertEqual(counts["stored"] + counts["duplicate"] + counts.get("quota", 0), 90, counts)
        self.assertEqual(counts["body_refused"], 11)
        self.assertEqual(self.server.sql("SELECT count(*) FROM report JOIN app USING (app_id) WHERE slug = 'mixed'"),
                         [str(counts["stored"])])
        self.assertEqual(set(counts), {"stored", "duplicate", "body_refused"} | ({"quota"} & set(counts)))


if __name__ == "__main__":
    unittest.main(warnings="ignore")
