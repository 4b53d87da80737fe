#!/usr/bin/env python3
"""A list of many issues: it counts the devices of its own page, and of all together only while 2,000 issues or less match.
Sorted by devices it is as if those of every issue were counted."""

import contextlib
import http.client
import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402
from answers import answer_of  # noqa: E402

BOUND = 2000  # PAGE_ISSUES of server/src/api/issues/listed.c
INSTALLS = 7
MOST = 40  # places of more than one installation
REPEATED = 50  # the place with most reports, all of one installation


def report(number, install):
    """A hang at a place of its own."""
    document = json.loads(mired.report(mired.report_id()))
    document["app"] = {"name": "shop", "version": "1"}
    document["device"]["install"] = f"{install:032x}"
    document["images"] = [{"name": "/opt/shop/shop", "id": "5a", "load": 4194304, "size": 65536}]
    document["frames"] = {"image": [0], "offset": [16 * number + 16]}
    document["nodes"] = {"up": [1], "frame": [0]}
    document["event"] |= {"duration_ms": 700, "samples": {"at_ms": [5], "weight_ms": [5], "node": [1]}}
    return json.dumps(document).encode()


def installs(number):
    """How many installations a place has."""
    return 1 + (MOST - number) % INSTALLS if number < MOST else 1


class ManyIssues(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = mired.scratch("many")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.server = mired.Mired(pathlib.Path(cls.scratch.name))
        cls.addClassCleanup(cls.server.stop)
        cls.admin = cls.server.key("shop", "admin")
        cls.fill("shop", [(number, number % INSTALLS) for number in range(BOUND + 2)])
        cls.fill("store", [(number, install) for number in range(BOUND + 2) for install in range(installs(number))] + [(REPEATED, 0)] * 60)
        mired.until("all is processed", lambda: cls.server.sql("SELECT count(*) FROM inbox") == ["0"])

    @classmethod
    def fill(cls, app, reports):
        ingest = cls.server.key(app, "ingest")
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", cls.server.port, timeout=300)) as connection:
            for number, install in reports:
                connection.request("POST", "/api/v1/reports", report(number, install), {"Authorization": f"Bearer {ingest}"})
                answer = connection.getresponse()
                body = answer.read()
                assert answer.status == 202, (answer.status, body)

    def listed(self, query=""):
        status, _, body = self.server.ask("GET", f"/api/v1/apps/shop/issues?by=place&limit=5&{query}", self.admin)
        self.assertEqual(status, 200, body)
        return answer_of(body, "listIssues")

    def resolve(self, answer):
        self.server.mire("issue", answer["groups"][0]["issues"][0]["id"], "resolve", "--app", "shop")

    def devices(self, answer):
        return [issue["totals"]["devices"] for group in answer["groups"] for issue in group["issues"]]

    def test_devices_of_a_list(self):
        every = self.listed()
        self.assertEqual(every["issues_total"], BOUND + 2)
        self.assertEqual(every["totals"]["devices"], INSTALLS)  # no issue is left out: of the app's cells
        self.assertEqual(self.devices(every), [1] * 5)

        self.resolve(every)
        beyond = self.listed("state=open")
        self.assertEqual(beyond["issues_total"], BOUND + 1)
        self.assertEqual(beyond["totals"]["reports"], BOUND + 1)
        self.assertNotIn("devices", beyond["totals"])
        self.assertEqual(self.devices(beyond), [1] * 5)
        self.assertEqual(self.listed("state=open&sort=-devices")["totals"]["devices"], INSTALLS)

        self.resolve(beyond)
        within = self.listed("state=open")
        self.assertEqual(within["issues_total"], BOUND)
        self.assertEqual(within["totals"]["devices"], INSTALLS)
        self.assertEqual(self.devices(within), [1] * 5)

    def test_a_list_by_devices(self):
        admin = self.server.key("store", "admin")
        told, cursor = [], ""
        for _ in range(12):
            status, _, body = self.server.ask("GET", f"/api/v1/apps/store/issues?by=place&limit=5&sort=-devices{cursor}", admin)
            self.assertEqual(status, 200, body)
            answer = answer_of(body, "listIssues")
            self.assertEqual(answer["totals"]["devices"], INSTALLS)
            told += [(-group["totals"]["devices"], group["key"]) for group in answer["groups"]]
            cursor = f"&cursor={answer['next']}"
        self.assertEqual([-devices for devices, _ in told], sorted(map(installs, range(BOUND + 2)), reverse=True)[:60])
        self.assertEqual(told, sorted(set(told)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
