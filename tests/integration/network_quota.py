#!/usr/bin/python3
"""An app that links libmire, and a real mired that has had enough of it: nothing is lost that mired wants later, and nothing
is sent again that mired has counted."""

import json
import pathlib
import re
import sys
import time
import unittest

sys.dont_write_bytecode = True
here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here.parent / "support"), str(here)]

import mired  # noqa: E402
from cases import Served  # noqa: E402
import network  # noqa: E402


def answers_of(proxy):
    """Has the proxy keep status, headers and body of the answers to POSTs."""
    kept = []

    def keep(exchange):
        answer = exchange.forward()
        kept.append(answer.decode())
        exchange.connection.sendall(answer)

    proxy.faults = Endless(keep)
    return kept


class Endless(list):
    """A list of faults that does not end."""

    def __init__(self, fault):
        super().__init__([fault])

    def pop(self, _at=0):
        return self[0]


class Quotas(Served):
    settings = ("--app-requests-s=1",)

    def trial(self, name):
        trial = network.Trial(self.server, self.folder / name, name)
        self.addCleanup(trial.close)
        return trial

    def assert_judged(self, trial):
        once, agrees, why = trial.judge()
        self.assertTrue(once and agrees, why)

    def test_the_app_waits_as_429_says_and_drops_nothing(self):
        trial = self.trial("often")
        answers = answers_of(trial.proxy)
        app = trial.app(first=1, limit=50)  # its own patience is short: what holds it back is the server
        app.report(18)  # ten at once are within the rate
        begun = time.monotonic()
        self.assertEqual(app.flush(), "MIRE_OK")
        app.stop()
        refused = [answer for answer in answers if " 429 " in answer.split("\r\n", 1)[0]]
        self.assertTrue(refused)
        for answer in refused:
            self.assertRegex(answer, r"(?i)\r\nRetry-After: [1-9]")
            self.assertIn("app", json.loads(answer.split("\r\n\r\n", 1)[1])["detail"])
        # A token a second: without the wait that it is told the app would ask hundreds of times meanwhile.
        self.assertLessEqual(len(refused), 2 * (time.monotonic() - begun) + 5)
        self.assert_judged(trial)
        self.assertEqual(trial.dropped, 0)

    def test_a_wait_outlives_the_app(self):
        trial = self.trial("later")
        answers = answers_of(trial.proxy)
        app = trial.app(first=1, limit=50)
        app.report(14)
        mired.until("it is refused", lambda: any(" 429 " in answer for answer in list(answers)))
        app.kill()
        app = trial.app(first=1, limit=50)
        self.assertEqual(app.flush(), "MIRE_OK")
        app.stop()
        # The first run was killed before it said what it had sent.
        bodies = trial.bodies()
        self.assertEqual(len(bodies), len({body["id"] for body in bodies}))
        self.assertEqual(network.reports(bodies), 14)
        self.assertEqual(+trial.ledger(), {})

    def test_a_report_that_is_counted_only_is_not_sent_again(self):
        trial = self.trial("budget")
        admin = self.server.key("budget", "admin")
        settings = "/api/v1/apps/budget/settings"
        mired.until("the key is known", lambda: self.server.ask("GET", settings, admin)[0] == 200)
        body = {"name": "budget", "retention_days": None, "quota_reports_day": 2}
        self.assertEqual(self.server.ask("PUT", settings, admin, body)[0], 200)

        def counts():
            door = json.loads(self.server.ask("GET", settings, admin)[2])["door"]
            found = {}
            for row in door:  # the day may change meanwhile
                found[row["outcome"]] = found.get(row["outcome"], 0) + row["reports"]
            return found

        mired.until("the door has asked for the budget", lambda: self.server.ask(
            "POST", "/api/v1/reports", trial.key, b"{")[0] == 400 and counts().get("body_refused"))
        answers = answers_of(trial.proxy)
        app = trial.app(first=1000, limit=60000)
        app.report(7)
        self.assertEqual(app.flush(), "MIRE_OK")
        app.stop()
        not_kept = [answer for answer in answers if re.search(r'"kept": ?false', answer)]
        self.assertTrue(not_kept)
        self.assertTrue(all(answer.startswith("HTTP/1.1 202 ") for answer in not_kept))
        stored = len(trial.bodies())
        self.assertLess(stored, 7)
        # To the app all of it is sent, nothing waits, and nothing is told as lost: mired has counted it.
        self.assertEqual((trial.sent, trial.dropped, +trial.ledger()), (stored + len(not_kept), 0, {}))
        waiting = [network.unpack(path.read_bytes()) for path in (trial.store / "out").glob("*.report")]
        self.assertEqual(network.reports(waiting), 0)  # the run's own record may wait for the next
        mired.until("the door has counted", lambda: counts().get("stored", 0) + counts().get("quota", 0) == trial.sent, 60)
        self.assertEqual(counts()["quota"], len(not_kept))


class Keys(Served):
    settings = ("--key-requests-s=1",)

    def test_a_key_that_floods_leaves_others_of_the_app_alone(self):
        server = self.server
        leaked, good = server.key("shop", "ingest"), server.key("shop", "ingest")
        mired.until("the keys are known", lambda: server.ask("GET", "/api/v1/rollout", good)[0] == 200)
        send = lambda key: server.ask("POST", "/api/v1/reports", key, mired.report(mired.report_id()))  # noqa: E731
        answers = [send(leaked) for _ in range(40)]
        status, headers, body = next(answer for answer in answers if answer[0] != 202)
        self.assertEqual(status, 429)
        self.assertGreaterEqual(int(headers["Retry-After"]), 1)
        self.assertIn("key", json.loads(body)["detail"])
        self.assertEqual(send(good)[0], 202)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
