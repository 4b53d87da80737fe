#!/usr/bin/env python3
"""A list that leaves out issues counts the devices of its own page, and of all together only while 2,000 issues or less match."""

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

BOUND = 2000  # PAGE_ISSUES of server/src/api/issues/issues.c
INSTALLS = 7


def report(number):
    """A hang at a place of its own, of one of seven installations."""
    document = json.loads(mired.report(mired.report_id()))
    document["app"] = {"name": "shop", "version": "1"}
    document["device"]["install"] = f"{number % INSTALLS:032x}"
    document["images"] = [{"name": "/opt/shop/shop", "id": "5a", "load": 4194304, "size": 65536}]
    document["frames"] = {"image": [0], "offset": [16 * number + 16]}
    document["nodes"] = {"up": [1], "frame": [0]}
    document["event"] |= {"duration_ms": 700, "samples": {"at_ms": [5], "weight_ms": [5], "node": [1]}}
    return json.dumps(document).encode()


class ManyIssues(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = mired.scratch("many")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.server = mired.Mired(pathlib.Path(cls.scratch.name))
        cls.addClassCleanup(cls.server.stop)
        cls.admin = cls.server.key("shop", "admin")
        ingest = cls.server.key("shop", "ingest")
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", cls.server.port, timeout=300)) as connection:
            for number in range(BOUND + 2):
                connection.request("POST", "/api/v1/reports", report(number), {"Authorization": f"Bearer {ingest}"})
                answer = connection.getresponse()
                body = answer.read()
                assert answer.status == 202, (answer.status, body)
        mired.until("all is processed", lambda: cls.server.sql("SELECT count(*) FROM inbox") == ["0"])

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


if __name__ == "__main__":
    unittest.main(verbosity=2)
