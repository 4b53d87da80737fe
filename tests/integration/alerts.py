#!/usr/bin/python3
"""Alerts: what a real mired judges, writes, and sends to real receivers, whatever fails in between.

Receivers are a server of HTTP here and a mail server (aiosmtpd) with TLS. Figures of the judgement itself are tested on
generated months by unit/server/alert.
"""

import base64
import contextlib
import email
import email.policy
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import ssl
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from aiosmtpd.controller import Controller  # noqa: E402
from aiosmtpd.smtp import AuthResult  # noqa: E402
from answers import answer_of  # noqa: E402
from mired import Mired, report, report_id, scratch, until  # noqa: E402

CHANGE = {"X_Mire_Change": "1", "Content_Type": "application/json"}
FAST = ("--alert-every-s=1", "--alert-private-hooks=yes")
RULE = {"name": "Lag", "kind": "rate", "measure": "lag", "scope": "each", "bound": 2.5}


class Receiver:
    """Takes messages over HTTP. `behave` is told of each before it is answered, and returns the status."""

    def __init__(self):
        outer = self
        self.got, self.behave, self.lock = [], lambda message: 200, threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                message = {"path": self.path, "headers": dict(self.headers), "raw": body, "body": json.loads(body),
                           "at": time.monotonic()}
                with outer.lock:
                    outer.got.append(message)
                status = outer.behave(message)
                answer = status if isinstance(status, bytes) else b"{}"
                with contextlib.suppress(OSError):
                    self.send_response(200 if isinstance(status, bytes) else status)
                    if status in (301, 302, 307):
                        self.send_header("Location", "/elsewhere")
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def ids(self):
        with self.lock:
            return [message["headers"]["webhook-id"] for message in self.got]


def certificate(folder):
    """One for localhost, signed by itself."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", cert],
                   check=True, capture_output=True)
    return key, cert


class Mailbox:
    """A mail server on this machine that wants TLS and a password."""

    def __init__(self, folder):
        key, self.cert = certificate(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, key)
        self.letters, self.refuse = [], False

        def authenticate(server, session, envelope, mechanism, data):
            return AuthResult(success=(data.login, data.password) == (b"mire", b"secret words"))

        self.controller = Controller(self, hostname="localhost", port=0, tls_context=context, require_starttls=True,
                                     authenticator=authenticate, auth_required=True)
        self.controller.port = self.free_port()
        self.controller.start()
        self.url = f"smtp://localhost:{self.controller.port}"

    @staticmethod
    def free_port():
        import socket
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    async def handle_DATA(self, server, session, envelope):
        if self.refuse:
            return "451 try again later"
        letter = email.message_from_bytes(envelope.content, policy=email.policy.default)
        self.letters.append({"from": envelope.mail_from, "to": envelope.rcpt_tos, "letter": letter,
                             "secure": session.ssl is not None, "who": session.authenticated})
        return "250 taken"


class Case(unittest.TestCase):
    """An app of its own on a mired that all share."""

    app, shared = "shop", {}

    @classmethod
    def start(cls):
        folder = scratch("alerts")
        unittest.addModuleCleanup(folder.cleanup)
        place = pathlib.Path(folder.name)
        mailbox = Mailbox(place)
        unittest.addModuleCleanup(mailbox.controller.stop)
        password = place / "password"
        password.write_text("secret words\n")
        server = Mired(place, *FAST, f"--smtp={mailbox.url}", "--smtp-user=mire", f"--smtp-password-file={password}",
                       "--mail-from=mire@shop.example", f"--alert-ca-file={mailbox.cert}")
        unittest.addModuleCleanup(server.stop)
        cls.shared.update(mired=server, mailbox=mailbox)

    def setUp(self):
        if not self.shared:
            self.start()
        self.mired, self.mailbox = self.shared["mired"], self.shared["mailbox"]
        self.receiver = Receiver()
        self.addCleanup(lambda: self.receiver.stop())
        self.key = self.mired.key(self.app, "ingest")
        until("the default rule is there", lambda: self.alerts()["rules"])

    def change(self, method, path, body=None, status=200):
        got, _, answer = self.mired.ask(method, "/api/v1" + path, None, body if method == "DELETE" else body or {}, **CHANGE)
        assert got == status, (method, path, got, answer)
        return json.loads(answer)

    def of_app(self, method, path, body=None, status=200):
        return self.change(method, f"/apps/{self.app}/alerts{path}", body, status)

    def alerts(self):
        return answer_of(self.mired.ask("GET", f"/api/v1/apps/{self.app}/alerts")[2], "getAlerts")

    def message(self):
        return self.alerts()["messages"][0]

    def no_rules(self):
        for rule in self.alerts()["rules"]:
            self.of_app("DELETE", f"/rules/{rule['id']}")

    def channel(self, kind, target, **more):
        return self.of_app("POST", "/channels", {"kind": kind, "name": kind, "target": target} | more)

    def rule(self, **more):
        return self.of_app("POST", "/rules", RULE | more)["id"]

    def judged_again(self):
        looks = self.alerts()["rules"][0]["looked_at"]
        until("it is judged again", lambda: self.alerts()["rules"][0]["looked_at"] > looks)

    def open(self, **want):
        return [one for one in self.alerts()["open"] if all(one[name] == value for name, value in want.items())]

    def sessions(self, version, day, count, lagging):
        """Session records of a version on a day (0: today), as counted, with some that hung."""
        self.mired.sql(f"""INSERT INTO version (app_id, version, first_seen) SELECT app_id, '{version}', now() FROM app
                WHERE slug = '{self.app}' ON CONFLICT DO NOTHING;
            INSERT INTO session_day SELECT 0, (now() AT TIME ZONE 'UTC')::date - {day}, app_id, version_id, 'public', 15, {count},
                {count}, {count}, 1, 0, {count}, {count}, 1, {lagging}, {lagging}, 0, 0, 0, 0
                FROM version JOIN app USING (app_id) WHERE slug = '{self.app}' AND version = '{version}'
            ON CONFLICT ON CONSTRAINT session_day_counts_once DO UPDATE SET records = excluded.records, sessions = excluded.sessions,
                sessions_sq = excluded.sessions_sq, watched = excluded.watched, watched_sq = excluded.watched_sq,
                lagging = excluded.lagging""")


class JudgingTest(Case):
    def test_one_app_through_the_life_of_its_alerts(self):
        self.every_app_has_the_rule_of_the_lag()
        self.a_rate_fires_where_its_interval_is_clear_and_is_told_once()
        self.the_signature_is_that_of_standard_webhooks()
        self.a_link_acknowledges_and_only_its_own_alert()
        self.it_ends_where_the_interval_is_clear_below()
        self.a_snooze_tells_nobody()
        self.removing_a_rule_ends_what_it_found()
        self.what_cannot_be_a_rule_or_a_channel_is_refused()
        self.the_past_month_is_tried()
        self.every_change_is_in_the_audit_log()

    def every_app_has_the_rule_of_the_lag(self):
        (rule,) = self.alerts()["rules"]
        self.assertEqual((rule["kind"], rule["measure"], rule["scope"], rule["against"], rule["is_default"]),
                         ("rate", "lag", "each", "week", True))
        for day in range(1, 9):
            self.sessions("1.0", day, 20000, 400)
        self.sessions("1.0", 0, 20000, 405)
        self.sessions("1.1", 0, 4000, 160)
        until("a version with twice the lag fires", lambda: self.open(subject="1.1", state="firing"))
        self.judged_again()
        self.assertIsNone(self.open(subject="1.1")[0]["notified_at"], "there is no channel: it waits")
        waits = self.channel("webhook", self.receiver.url)["id"]
        until("a channel that comes later is told", lambda: self.receiver.got)
        self.of_app("DELETE", f"/channels/{waits}")
        self.receiver.got.clear()
        self.assertEqual(self.open(subject="1.0"), [], "within chance of its week")
        self.of_app("DELETE", f"/rules/{rule['id']}")

    def a_rate_fires_where_its_interval_is_clear_and_is_told_once(self):
        self.secret = self.channel("webhook", self.receiver.url)["secret"]
        self.rule = self.rule(repeat_s=0)
        until("it fires", lambda: self.open(rule=self.rule, state="firing"))
        (alert,) = self.open(rule=self.rule)
        self.assertEqual(alert["subject"], "1.1")
        self.assertTrue(2.5 < alert["low"] < alert["value"] == 4 < alert["high"], alert)
        until("it is told", lambda: self.receiver.got)
        self.judged_again()
        (message,) = self.receiver.got
        data = message["body"]["data"]
        self.assertEqual(message["body"]["type"], "mire.alert.fired")
        self.assertIn("Sessions with a hang of 1.1: 4.0 %", data["verdict"])
        self.assertTrue(data["url"].startswith(self.mired.url + "/shop?t=") and data["url"].endswith("&v=1.1"), data["url"])
        self.assertEqual(len(data["spark"]), 14)
        self.ack = data["ack_url"]

    def the_signature_is_that_of_standard_webhooks(self):
        (message,) = self.receiver.got
        headers = message["headers"]
        key = base64.b64decode(self.secret.removeprefix("whsec_"))
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + message["raw"]
        want = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        self.assertEqual(headers["webhook-signature"], want)
        self.assertLess(abs(int(headers["webhook-timestamp"]) - time.time()), 300)
        self.assertNotIn(self.secret, json.dumps(self.alerts()), "it is told once")

    def a_link_acknowledges_and_only_its_own_alert(self):
        token = self.ack.split("#")[1]
        alert, channel, expires, mac = token.split(".")
        for bad in (f"{int(alert) - 1}.{channel}.{expires}.{mac}", f"{alert}.{channel}.{int(expires) + 1}.{mac}",
                    f"{alert}.{channel}.{expires}.{mac[:-2]}", "", "x" * 100, f"{alert}.{channel}.{expires}."):
            self.change("POST", "/ack", {"token": bad, "acknowledge": True}, 404)
        answer = self.change("POST", "/ack", {"token": token})
        self.assertIsNone(answer["alert"]["acked_at"], "looking changes nothing: mail readers open links by themselves")
        answer = self.change("POST", "/ack", {"token": token, "acknowledge": True})
        self.assertEqual(answer["alert"]["acked_by"], "link to webhook")
        first = answer["alert"]["acked_at"]
        answer = self.change("POST", "/ack", {"token": token, "acknowledge": True})
        self.assertEqual(answer["alert"]["acked_at"], first, "once")

    def it_ends_where_the_interval_is_clear_below(self):
        self.sessions("1.1", 0, 4000, 100)  # 2.5 %: the interval holds the bound
        self.judged_again()
        self.assertTrue(self.open(rule=self.rule), "neither clear above nor below: nothing changes")
        self.sessions("1.1", 0, 4000, 60)
        until("it is over", lambda: not self.open(rule=self.rule))
        until("the end is told", lambda: len(self.receiver.got) == 2)
        self.assertEqual(self.receiver.got[1]["body"]["type"], "mire.alert.over")
        self.assertNotIn("ack_url", self.receiver.got[1]["body"]["data"])

    def a_snooze_tells_nobody(self):
        self.of_app("POST", f"/rules/{self.rule}/snooze", {"hours": 1})
        self.sessions("1.1", 0, 4000, 160)
        until("it fires", lambda: self.open(rule=self.rule, state="firing"))
        self.assertIsNone(self.open(rule=self.rule)[0]["notified_at"])
        self.of_app("POST", f"/rules/{self.rule}/snooze", {"hours": 0})
        until("after the snooze it is told", lambda: len(self.receiver.got) == 3)
        self.assertEqual(self.receiver.got[2]["body"]["type"], "mire.alert.fired")

    def removing_a_rule_ends_what_it_found(self):
        self.of_app("DELETE", f"/rules/{self.rule}")
        self.assertEqual(self.alerts()["open"], [])
        history = answer_of(self.mired.ask("GET", "/api/v1/apps/shop/alerts/history")[2], "getAlertHistory")
        self.assertEqual([one["state"] for one in history["alerts"]], ["over"] * 3)

    def what_cannot_be_a_rule_or_a_channel_is_refused(self):
        rules, channels = "/rules", "/channels"
        for wrong in ({"kind": "rates"}, {"measure": "lags"}, {"scope": ""}, {"bound": 0}, {"bound": 1e9}, {"name": ""},
                      {"against": "month"}, {"versions": "1.0,,2"}, {"kind": "new", "kinds": "hangs"}, {"window_s": 3600},
                      {"kind": "silence", "bound": 10, "window_s": 18000}, {"quiet_from": 60}, {"quiet_zone": "Mars/Base"},
                      {"notifies": [999]}, {"escalate_s": 60}):
            self.of_app("POST", rules, RULE | wrong, 422)
        for wrong in ({"kind": "fax"}, {"target": ""}, {"target": "file:///etc/passwd"}, {"target": "gopher://x"}, {"name": ""},
                      {"target": "https://x/\r\nHost: y"}, {"secret": "short"}, {"kind": "pagerduty"},
                      {"kind": "email", "target": "nobody"}, {"kind": "email", "target": "a@b\r\nBcc: c@d"},
                      {"kind": "email", "target": "a@b <c@d>"}, {"kind": "email", "target": ", ,"}):
            self.of_app("POST", channels, {"kind": "webhook", "name": "w", "target": "https://x"} | wrong, 422)

    def the_past_month_is_tried(self):
        answer = answer_of(self.mired.ask("POST", "/api/v1/apps/shop/alerts/replay", None, RULE, **CHANGE)[2], "replayAlertRule")
        self.assertEqual(answer["times"], 1)
        fired = [(one["subject"], one["times"]) for one in answer["subjects"]]
        self.assertEqual(fired, [("1.1", 1), ("1.0", 0)])
        self.assertEqual(len(answer["subjects"][1]["points"]), 9)
        self.assertEqual([point["fired"] for point in answer["subjects"][0]["points"]], [True])
        self.assertEqual(self.alerts()["rules"], [], "a try is not kept")

    def every_change_is_in_the_audit_log(self):
        actions = {row["action"] for row in self.mired.get("/apps/shop/audit")["rows"]}
        self.assertLessEqual({"alert.rule_made", "alert.rule_removed", "alert.snoozed", "alert.acknowledged", "alert.channel_made"},
                             actions)


class KindsTest(Case):
    app = "kinds"

    def test_new_issues_and_silence(self):
        self.no_rules()
        hook = self.channel("webhook", self.receiver.url)["id"]
        self.rule(name="New", kind="new", bound=2, repeat_s=0)
        for device in range(5):
            body = json.loads(report(report_id()))
            body["device"]["install"] = hashlib.md5(str(device).encode()).hexdigest()
            self.assertEqual(self.mired.ask("POST", "/api/v1/reports", self.key, body)[0], 202)
        until("an issue on five devices fires", lambda: self.open(kind="new", state="firing"))
        (alert,) = self.open(kind="new")
        self.assertEqual((alert["value"], alert["low"], alert["high"]), (5, 5, 5), "every device reports: nothing is estimated")
        self.assertRegex(alert["verdict"], r"^New issue I-\d+ .*: on 5 devices \(5 to 5\), bound 2\.$")
        until("it is told", lambda: self.receiver.got)
        page = self.receiver.got[0]["body"]["data"]["url"].removeprefix(self.mired.url)
        self.assertRegex(page, r"^/kinds/issues/I-\d+\?t=")
        self.rule(name="Silence", kind="silence", bound=10, notifies=[hook])
        # A hundred reports in every hour of the week before, and none for two hours; what the devices above sent goes.
        self.mired.sql("""DELETE FROM version_hour WHERE app_id = (SELECT app_id FROM app WHERE slug = 'kinds');
            INSERT INTO version_hour SELECT 0, date_trunc('hour', now(), 'UTC') - n * interval '1 hour', app_id, min(version_id), 'hang',
                100, 100, 0, 0 FROM version JOIN app USING (app_id), generate_series(3, 24 * 9) n
                WHERE slug = 'kinds' GROUP BY n, app_id""")
        until("silence fires", lambda: self.open(kind="silence", state="firing"))
        self.assertIn("0 % of the usual 100", self.open(kind="silence")[0]["verdict"])
        self.rule(name="Guard", kind="guard")
        self.mired.sql("""INSERT INTO rollout_ramp SELECT app_id, 'hang', 'public', 'kim', '{10000,50000}', 3600, 0.1, 0, 0, true, 0, 'stopped', 0,
            now(), now(), 'runs with the plugin end badly more often', now() FROM app WHERE slug = 'kinds'""")
        until("the guard fires", lambda: self.open(kind="guard", state="firing"))
        self.assertIn("tripped: hang, runs with the plugin end badly more often.", self.open(kind="guard")[0]["verdict"])
        self.mired.sql("UPDATE rollout_ramp SET tripped_at = NULL")
        until("somebody acted", lambda: not self.open(kind="guard"))


class RegressedTest(Case):
    app = "regressed"

    def test_an_issue_that_came_back(self):
        self.no_rules()
        self.channel("webhook", self.receiver.url)
        self.assertEqual(self.mired.ask("POST", "/api/v1/reports", self.key, json.loads(report(report_id())))[0], 202)
        issue = until("the report is worked on", lambda: self.mired.issues(self.app))[0]["id"]
        self.rule(name="Back", kind="regressed", bound=0)
        self.mired.mire("issue", issue, "resolve", "--in", "1.0", "--app", self.app)
        sent = len(self.receiver.got)
        later = json.loads(report(report_id()))
        later["app"]["version"] = "99.0"
        self.assertEqual(self.mired.ask("POST", "/api/v1/reports", self.key, later)[0], 202)
        until("it fires", lambda: self.open(kind="regressed", state="firing"))
        (alert,) = self.open(kind="regressed")
        self.assertRegex(alert["verdict"], rf"^Came back: {issue} .+, in version 99\.0\.$")
        self.assertRegex(alert["page"], rf"^/regressed/issues/{issue}\?t=")
        until("it is told", lambda: len(self.receiver.got) > sent)
        self.mired.mire("issue", issue, "resolve", "--app", self.app)
        until("it is over", lambda: not self.open(kind="regressed"))


class QuotaTest(Case):
    app = "quota"

    def test_the_budget_of_the_day(self):
        self.no_rules()
        self.channel("webhook", self.receiver.url)
        self.rule(name="Budget", kind="quota", bound=80)
        for _ in range(9):
            self.assertEqual(self.mired.ask("POST", "/api/v1/reports", self.key, report(report_id()))[0], 202)
        budget = "UPDATE app SET quota_reports_day = {} WHERE slug = 'quota'"
        used = "SELECT sum(reports) FROM door_day JOIN app USING (app_id) WHERE slug = 'quota' AND outcome = 'stored'"
        until("they are counted", lambda: self.mired.sql(used) == ["9"])
        self.judged_again()
        self.assertFalse(self.open(kind="quota"))
        sent = len(self.receiver.got)
        self.mired.sql(budget.format(10))
        until("nine of ten fire", lambda: self.open(kind="quota", state="firing"))
        (alert,) = self.open(kind="quota")
        self.assertEqual((alert["verdict"], alert["page"]), ("The budget of reports of the day: 90 % used, bound 80 %.", "/quota/settings/reports"))
        until("it is told", lambda: len(self.receiver.got) > sent)
        self.mired.sql(budget.format(100))
        until("it is over", lambda: not self.open(kind="quota"))
        tried = self.of_app("POST", "/replay", {"name": "Budget", "kind": "quota", "bound": 5})
        self.assertEqual(tried["subjects"][0]["points"][-1]["value"], 9)


class QuietTest(Case):
    app = "quiet"

    def test_quiet_hours_hold_back_and_escalation_goes_elsewhere(self):
        self.no_rules()
        first = self.channel("webhook", self.receiver.url)["id"]
        second = self.channel("webhook", self.receiver.url + "/second")["id"]
        self.sessions("1.1", 0, 4000, 400)
        minute = int(self.mired.sql("SELECT extract(hour FROM t) * 60 + extract(minute FROM t) FROM (SELECT now() AT TIME ZONE 'Asia/Shanghai' t) x")[0])
        rule = self.rule(quiet_from=(minute - 60) % 1440, quiet_to=(minute + 60) % 1440, quiet_zone="Asia/Shanghai", repeat_s=0,
                               notifies=[first], escalates=[second], escalate_s=2)
        until("it fires", lambda: self.open(rule=rule, state="firing"))
        self.judged_again()
        self.assertEqual((self.receiver.got, self.alerts()["messages"]), ([], []), "it is night there")
        self.mired.sql(f"UPDATE alert_rule SET quiet_zone = 'UTC' WHERE rule_id = {rule}")  # eight hours away
        until("both are told", lambda: {message["path"] for message in self.receiver.got} == {"/hook", "/hook/second"})
        kinds = {message["path"]: message["body"]["type"] for message in self.receiver.got}
        self.assertEqual(kinds, {"/hook": "mire.alert.fired", "/hook/second": "mire.alert.escalated"})


class FormatsTest(Case):
    """One row a kind: each body as its receiver documents it, and the way in which they refuse."""

    app = "formats"

    def test_bodies(self):
        self.receiver.behave = lambda message: b'{"errcode":0,"code":0}'
        targets = {kind: f"{self.receiver.url}/{kind}" for kind in
                   ("slack", "teams", "pagerduty", "dingtalk", "feishu", "wecom")}
        for kind, target in targets.items():
            secret = {"pagerduty": "R" * 32, "dingtalk": "SECabc", "feishu": "fei"}.get(kind, "")
            number = self.channel(kind, target, secret=secret)["id"]
            self.of_app("POST", f"/channels/{number}/test")
        until("all are sent", lambda: len(self.receiver.got) == len(targets))
        until("all are marked", lambda: all(message["sent_at"] for message in self.alerts()["messages"]))
        got = {message["path"].split("?")[0].split("/")[-1]: message for message in self.receiver.got}
        title = "formats: a test of channel "
        self.assertEqual(got["slack"]["body"]["text"], title + "slack")
        self.assertEqual([block["type"] for block in got["slack"]["body"]["blocks"]], ["section", "actions"])
        card = got["teams"]["body"]["attachments"][0]
        self.assertEqual((card["contentType"], card["content"]["type"]), ("application/vnd.microsoft.card.adaptive", "AdaptiveCard"))
        event = got["pagerduty"]["body"]
        self.assertEqual((event["routing_key"], event["event_action"], event["payload"]["severity"]), ("R" * 32, "trigger", "info"))
        self.assertLessEqual(len(event["payload"]["summary"]), 1024)
        query = dict(part.split("=", 1) for part in got["dingtalk"]["path"].split("?")[1].split("&"))
        signed = base64.b64encode(hmac.new(b"SECabc", f"{query['timestamp']}\nSECabc".encode(), hashlib.sha256).digest()).decode()
        from urllib.parse import unquote
        self.assertEqual(unquote(query["sign"]), signed)
        self.assertEqual(got["dingtalk"]["body"]["msgtype"], "markdown")
        feishu = got["feishu"]["body"]
        key = f"{feishu['timestamp']}\nfei".encode()
        self.assertEqual(feishu["sign"], base64.b64encode(hmac.new(key, b"", hashlib.sha256).digest()).decode())
        self.assertIn(title + "feishu", feishu["content"]["text"])
        self.assertIn("**formats: a test", got["wecom"]["body"]["markdown"]["content"])
        for channel in self.alerts()["channels"]:
            self.assertTrue(channel["target"].endswith("/…") and "hook" not in channel["target"], channel)
        # 200 with a code of its own is a refusal.
        self.receiver.behave = lambda message: b'{"errcode":93000,"errmsg":"invalid webhook url"}'
        wecom = next(channel for channel in self.alerts()["channels"] if channel["kind"] == "wecom")
        self.of_app("POST", f"/channels/{wecom['id']}/test")
        until("it failed", lambda: self.message()["tries"])
        self.assertIn("93000", self.message()["fault"])


class MailTest(Case):
    app = "mail"

    def test_a_letter_comes_whole_over_tls_and_waits_while_it_is_refused(self):
        self.mailbox.refuse = True
        name = "Größe 大 " + "x" * 100
        number = self.of_app("POST", f"/channels",
                                   {"kind": "email", "name": name, "target": "kim@shop.example, lee@shop.example"})["id"]
        self.of_app("POST", f"/channels/{number}/test")
        until("it was refused", lambda: self.message()["tries"])
        self.assertIn("451", self.message()["fault"])
        self.mailbox.refuse = False
        until("it came", lambda: self.mailbox.letters)
        until("it is marked", lambda: self.message()["sent_at"])
        (got,) = self.mailbox.letters
        letter = got["letter"]
        self.assertEqual((got["from"], got["to"], got["secure"], got["who"]),
                         ("mire@shop.example", ["kim@shop.example", "lee@shop.example"], True, True))
        self.assertEqual(letter["Subject"], "mail: a test of channel " + name)
        self.assertEqual(letter["Message-ID"], f"<{self.alerts()['messages'][0]['id']}@shop.example>")
        self.assertEqual(letter["Auto-Submitted"], "auto-generated")
        self.assertIn(f"Open: {self.mired.url}/mail/alerts", letter.get_content())


class FaultsTest(Case):
    """Nothing is lost, and whatever comes twice comes under the same id and with the same words."""

    app = "faults"

    def begin(self):
        self.no_rules()
        self.number = self.channel("webhook", self.receiver.url)["id"]

    def test_what_fails_is_sent_again_until_it_is_taken(self):
        self.begin()
        self.killed_between_sending_and_marking()
        self.the_receiver_answers_500_and_is_down()
        self.the_database_goes_away_before_the_mark()
        self.a_redirect_is_not_followed()
        self.gone_is_gone()
        self.every_message_has_its_end()

    def killed_between_sending_and_marking(self):
        held, go = threading.Event(), threading.Event()

        def hold(message):
            held.set()
            go.wait(60)
            return 200

        self.receiver.behave = hold
        id = self.send()
        self.assertTrue(held.wait(60), "the receiver has it, and mired has no answer yet")
        self.mired.kill()
        go.set()
        self.receiver.behave = lambda message: 200
        self.mired.start()
        until("it is marked", lambda: self.message()["sent_at"])
        self.assertEqual(self.receiver.ids(), [id, id], "sent twice, as one message")
        self.assertEqual(self.receiver.got[0]["raw"], self.receiver.got[1]["raw"])

    def send(self):
        self.of_app("POST", f"/channels/{self.number}/test")
        return self.message()["id"]

    def the_receiver_answers_500_and_is_down(self):
        answers = [500, 503, 429]
        self.receiver.behave = lambda message: answers.pop(0) if answers else 200
        id = self.send()
        until("it is sent", lambda: self.message()["sent_at"])
        self.assertEqual(self.receiver.ids().count(id), 4)
        self.assertEqual(self.message()["tries"], 3)
        at = [message["at"] for message in self.receiver.got if message["headers"]["webhook-id"] == id]
        self.assertGreater(at[3] - at[2], 3, "the waits grow: 1, 2, 4 s")
        port = self.receiver.server.server_port
        self.receiver.stop()
        id = self.send()
        until("nobody listens", lambda: self.message()["tries"])
        again = Receiver.__new__(Receiver)
        with unittest.mock.patch.object(http.server, "ThreadingHTTPServer",
                                        lambda address, handler: REAL(("127.0.0.1", port), handler)):
            again.__init__()
        again.got = self.receiver.got + again.got
        self.receiver = again
        self.addCleanup(again.stop)
        until("it comes when the receiver is back", lambda: id in self.receiver.ids())
        until("it is marked", lambda: self.message()["sent_at"])

    def the_database_goes_away_before_the_mark(self):
        postmaster = int((self.mired.data / "postgres/postmaster.pid").read_text().split("\n")[0])
        first = threading.Event()

        def lose(message):
            if not first.is_set():
                first.set()
                self.mired.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND state = 'idle in transaction'")
            return 200

        self.receiver.behave = lose
        id = self.send()
        until("it is marked", lambda: self.message()["sent_at"])
        self.assertEqual(self.receiver.ids().count(id), 2, "the mark was lost, so it came again under its id")
        os.kill(postmaster, 0)

    def a_redirect_is_not_followed(self):
        self.receiver.behave = lambda message: 302
        id = self.send()
        until("a redirect is a failure", lambda: self.message()["tries"])
        self.assertEqual(self.message()["fault"], "answered 302")
        self.receiver.behave = lambda message: 200
        until("it is marked", lambda: self.message()["sent_at"])
        self.assertEqual({message["path"] for message in self.receiver.got}, {"/hook"})
        self.assertIn(id, self.receiver.ids())

    def gone_is_gone(self):
        self.receiver.behave = lambda message: 410
        id = self.send()
        until("it is given up", lambda: self.message()["failed_at"])
        self.assertEqual(self.receiver.ids().count(id), 1)
        channel = self.alerts()["channels"][0]
        self.assertEqual(channel["failed_as"], "answered 410", "and the page says so")
        self.receiver.behave = lambda message: 200

    def every_message_has_its_end(self):
        messages = self.alerts()["messages"]
        self.assertEqual({message["id"] for message in messages}, set(self.receiver.ids()))
        self.assertTrue(all(message["sent_at"] or message["failed_at"] for message in messages))


class PrivateTest(Case):
    app = "private"

    def test_private_addresses_are_refused(self):
        self.mired.stop()
        settings, self.mired.settings = self.mired.settings, [one for one in self.mired.settings if "private" not in one]
        self.mired.start()
        self.addCleanup(self.mired.start)
        self.addCleanup(setattr, self.mired, "settings", settings)
        self.addCleanup(self.mired.stop)
        for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433"):
            number = self.channel("webhook", f"http://{host}:{self.receiver.server.server_port}/hook")["id"]
            self.of_app("POST", f"/channels/{number}/test")
        until("all failed", lambda: all(message["tries"] for message in self.alerts()["messages"]))
        faults = {message["fault"] for message in self.alerts()["messages"]}
        self.assertEqual({fault.split(";")[0] for fault in faults}, {"the address is private"})
        self.assertEqual(self.receiver.got, [])


REAL = http.server.ThreadingHTTPServer

if __name__ == "__main__":
    unittest.main()
