#!/usr/bin/env python3
"""A report counts for many only if a rollout of its app gave it the share that it claims."""

import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402
from cases import Served  # noqa: E402

VECTORS = mired.SOURCE / "schema/wire/vectors"


class Shares(Served):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.key, cls.rollout = cls.server.key("shop", "ingest"), cls.server.key("shop", "rollout")
        mired.until("the key is known", lambda: cls.server.ask("GET", "/api/v1/rollout", cls.key)[0] == 200)

    def weight(self, name, sampling):
        """What a report with these shares is counted as."""
        document = json.loads(next((VECTORS / name).glob("[rd]*.json")).read_text())
        document |= {"id": mired.report_id(), "sampling": sampling}
        self.assertEqual(self.server.ask("POST", "/api/v1/reports", self.key, document)[0], 202)
        return float(mired.until("it is counted", lambda: self.server.sql(
            f"SELECT weight FROM event WHERE report_id = '{document['id']}' UNION ALL SELECT weight FROM session"
            f" WHERE report_id = '{document['id']}'"))[0])

    def test_only_shares_that_the_server_gave_count(self):
        session = "session/valid/" + sorted(path.name for path in (VECTORS / "session/valid").iterdir())[0]
        for plugin, name, given in (("hang", "valid/every-field", 0.02), ("session", session, 0.1)):
            self.assertEqual(self.weight(name, {}), 1)
            self.assertAlmostEqual(self.weight(name, {plugin: given}), 1 / given)
            for invented in (1e-300, 1e-6, 0.019, 0.03, 0.5, 0.999999):
                self.assertEqual(self.weight(name, {plugin: invented}), 1, (plugin, invented))
        # Another plugin's share is none of this one's.
        self.assertEqual(self.weight("valid/every-field", {"hang": 0.01}), 1)
        self.assertEqual(self.server.sql("SELECT max(events) < 1000000 FROM version_hour"), ["t"])

    def test_a_share_counts_from_the_version_that_gave_it_and_for_ever(self):
        self.assertEqual(self.weight("valid/every-field", {"hang": 0.125}), 1)
        for base, p in ((0, 0.125), (1, 1)):
            rules = {"fetch_s": 3600, "kill": False, "rules": [{"name": "all", "when": {}, "plugins": {"hang": {"probability": p}}}]}
            status, _, body = self.server.ask("PUT", "/api/v1/apps/shop/rollout", self.rollout, {
                "base": base, "author": "kim", "reason": "a test", "rules": rules})
            self.assertEqual(status, 201, body)
            self.assertEqual(self.weight("valid/every-field", {"hang": 0.125}), 8)
            self.assertEqual(self.weight("valid/every-field", {"hang": 0.02}), 50)  # of a device that has not asked since


if __name__ == "__main__":
    unittest.main(warnings="ignore")
