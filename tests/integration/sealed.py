#!/usr/bin/python3
"""Secrets at rest: tokens of trackers, and addresses and secrets of channels, are in the database sealed alone. The key is changed, lost,
brought back and damaged, each time on a real mired that sends to a real receiver."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402
from alerts import CHANGE, FAST, Receiver  # noqa: E402

OPEN = {"slack": "https://kim:slack-password-is-secret@hooks.example/T0/B0/slack-address-is-secret", "pagerduty": "routing-key-is-secret", "feishu": "feishu-is-secret",
        "token": "ghp_token-is-secret", "calls": "calls-are-signed-by-this"}


class Sealed(unittest.TestCase):
    def setUp(self):
        scratch = mired.scratch("sealed")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.server = mired.Mired(self.folder, *FAST)
        self.addCleanup(lambda: self.server.stop())
        self.receiver = Receiver()
        self.addCleanup(self.receiver.stop)
        self.file = self.server.data / "secret.key"
        self.server.key("shop", "ingest")
        self.own = self.channel("webhook", self.receiver.url + "/webhook-address-is-secret")

    def of_app(self, method, path, body=None):
        status, _, answer = self.server.ask(method, "/api/v1/apps/shop" + path, None, body, **CHANGE)
        self.assertEqual(status, 200, answer)
        return json.loads(answer)

    def channel(self, kind, target, secret=""):
        return self.of_app("POST", "/alerts/channels", {"kind": kind, "name": kind, "target": target, "secret": secret})

    def set_all(self):
        self.channel("slack", OPEN["slack"])
        self.channel("pagerduty", "", OPEN["pagerduty"])
        self.channel("feishu", self.receiver.url, OPEN["feishu"])
        self.of_app("PUT", "/tracker", {"kind": "github", "address": self.receiver.url, "project": "acme/shop", "token": OPEN["token"],
                                        "secret": OPEN["calls"]})

    def send(self):
        """A message to the webhook; its number among those that came."""
        before = len(self.receiver.got)
        self.of_app("POST", f"/alerts/channels/{self.own['id']}/test")
        return before

    def arrives(self, before):
        mired.until("it arrives", lambda: len(self.receiver.got) > before)
        self.assertIn("webhook-signature", {name.lower() for name in self.receiver.got[before]["headers"]})

    def stored(self):
        """All that the tables of trackers and channels hold."""
        return " ".join(word for table in ("alert_channel", "tracker", "alert_message") for word in self.server.sql(f"SELECT t::text FROM {table} t"))

    def names_of_keys(self):
        return set(self.server.sql("SELECT split_part(target, '.', 2) FROM alert_channel UNION SELECT split_part(token, '.', 2) FROM tracker"))

    def restart(self):
        self.server.stop()
        self.server.start()

    def mired(self, *words):
        return subprocess.run([mired.BINARY / "server/mired", *words, f"--data-dir={self.server.data}", "--listen=127.0.0.1:0"],
                              capture_output=True, text=True, timeout=120)

    def doctor(self):
        (line,) = [line for line in self.mired("doctor").stdout.splitlines() if " secrets: " in line]
        return line

    def test_the_database_holds_sealed_text_alone(self):
        self.set_all()
        for number in [one["id"] for one in self.of_app("GET", "/alerts")["channels"]]:
            self.of_app("POST", f"/alerts/channels/{number}/test")
        mired.until("all are written", lambda: self.server.sql("SELECT count(*) FROM alert_message") == ["4"])
        mired.until("two arrive", lambda: len(self.receiver.got) >= 2)
        self.assertEqual(os.stat(self.file).st_mode & 0o777, 0o600)
        stored, shown = self.stored(), json.dumps([self.of_app("GET", path) for path in ("/alerts", "/tracker", "/settings")])
        audit = json.dumps(json.loads(self.server.ask("GET", "/api/v1/audit")[2]))
        for text in [*OPEN.values(), "webhook-address-is-secret", self.own["secret"], self.file.read_text().strip()]:
            self.assertNotIn(text, stored)
            self.assertNotIn(text, shown)
            self.assertNotIn(text, audit)
        self.assertEqual({one["target"] for one in self.of_app("GET", "/alerts")["channels"] if one["kind"] == "slack"},
                         {"https://hooks.example/…"})
        self.assertRegex(self.doctor(), r"^ok +secrets: 9, sealed by the first key")
        # A sealed text of one app opens in no other, nor in another column.
        self.server.key("other", "ingest")
        self.server.sql("UPDATE alert_channel SET app_id = (SELECT app_id FROM app WHERE slug = 'other') WHERE kind = 'feishu'")
        self.server.sql("UPDATE alert_channel SET secret = target WHERE kind = 'pagerduty'")
        self.assertRegex(self.doctor(), r"^bad +secrets: 3 cannot be opened")
        # A removed channel leaves nothing.
        self.of_app("DELETE", f"/alerts/channels/{self.own['id']}")
        self.assertEqual(self.server.sql(f"SELECT target, secret FROM alert_channel WHERE channel_id = {self.own['id']}"), ["-|"])

    def test_a_new_key(self):
        self.set_all()
        before = self.names_of_keys()
        self.assertEqual(len(before), 1)
        self.assertEqual(self.mired("rotate").returncode, 0)
        self.assertEqual((len(self.file.read_text().split()), os.stat(self.file).st_mode & 0o777), (2, 0o600))
        self.assertRegex(self.doctor(), r"^look +secrets: 9 are not sealed by the first key")
        self.arrives(self.send())  # by the process that knows the old key alone
        self.restart()
        self.assertRegex(self.doctor(), r"^ok ")
        self.assertTrue(self.names_of_keys().isdisjoint(before))
        self.file.write_text(self.file.read_text().split()[0] + "\n")
        self.restart()
        self.arrives(self.send())
        # The token stays as it is where none is given, and goes to no other host.
        same = {"kind": "github", "address": self.receiver.url, "project": "acme/web"}
        self.of_app("PUT", "/tracker", same)
        self.assertEqual(self.server.ask("PUT", "/api/v1/apps/shop/tracker", None, same | {"address": "https://else.example"}, **CHANGE)[0], 422)

    def test_a_lost_key_comes_back(self):
        old = self.file.read_text()
        self.server.stop()
        self.file.unlink()
        self.server.start()
        self.assertNotEqual(self.file.read_text(), old)
        self.assertRegex(self.doctor(), r"^bad +secrets: 2 cannot be opened")
        before = self.send()
        mired.until("it waits", lambda: self.of_app("GET", "/alerts")["messages"][0]["tries"])
        self.assertIn("a key that secret_key_file does not have", self.of_app("GET", "/alerts")["messages"][0]["fault"])
        self.assertEqual(self.of_app("GET", "/alerts")["channels"][0]["target"], "")
        self.arrives_by(self.channel("webhook", self.receiver.url + "/fresh"))
        self.file.write_text(self.file.read_text() + old)
        self.restart()
        self.server.sql("UPDATE alert_message SET due_at = now() WHERE sent_at IS NULL")
        mired.until("it arrives after all", lambda: len(self.receiver.got) > before + 1)
        self.assertRegex(self.doctor(), r"^ok +secrets: 4, ")

    def arrives_by(self, channel):
        before = len(self.receiver.got)
        self.of_app("POST", f"/alerts/channels/{channel['id']}/test")
        mired.until("it arrives", lambda: len(self.receiver.got) > before)

    def test_a_webhook_of_a_tracker_while_the_key_is_lost(self):
        self.set_all()
        self.server.stop()
        self.file.unlink()
        self.server.start()
        status, _, answer = self.server.ask("POST", "/api/v1/apps/shop/tracker/calls", None, {"action": "closed"}, X_Hub_Signature_256="sha256=00")
        self.assertEqual((status, json.loads(answer)["type"]), (503, "urn:mire:problem:tracker.sealed"))
        self.assertEqual(self.of_app("GET", "/tracker")["tracker"]["project"], "acme/shop")

    def test_open_text_of_an_earlier_database_is_sealed_at_the_start(self):
        self.server.sql(f"UPDATE alert_channel SET target = '{self.receiver.url}/plain', secret = '{self.own['secret']}'")
        self.assertRegex(self.doctor(), r"^look +secrets: 2 are not sealed")
        self.restart()
        self.assertRegex(self.doctor(), r"^ok ")
        self.assertNotIn("/plain", self.stored())
        before = self.send()
        self.arrives(before)
        self.assertEqual(self.receiver.got[before]["path"], "/hook/plain")

    def test_a_file_that_is_none(self):
        self.server.stop()
        good = self.file.read_text()
        for text in ("", "no key\n", good.strip()[:-1] + "\n", good * 17):
            self.file.write_text(text)
            done = self.mired("serve")
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("64 hex digits", done.stderr)
        self.file.write_text(good)
        self.file.chmod(0o644)
        self.server.start()
        self.assertRegex(self.doctor(), r"^look +secrets: .* can be read by others")
        elsewhere = self.folder / "elsewhere"
        shutil.copy(self.file, elsewhere)
        elsewhere.chmod(0o600)
        self.assertIn("elsewhere", self.mired("doctor", f"--secret-key-file={elsewhere}").stdout)


if __name__ == "__main__":
    unittest.main()
