#!/usr/bin/env python3
"""Who may what: every route with every role, sign-ins, links, tokens and the audit log of a real mired."""

import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest
import urllib.parse

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402
import raw  # noqa: E402

CHANGE = {"X_Mire_Change": "1", "Content_Type": "application/json"}
PASSWORD = "correct horse battery"
ROLES = ("nobody", "viewer", "triager", "admin", "server")

# Who of a route -> the least role of a person; None: no person may.
LEAST = {"READ": "viewer", "TRIAGE": "triager", "ROLLOUT": "admin", "RULES": "admin", "ADMIN": "admin", "SERVER": "server", "FOUND": "server",
         "SELF": "member", "KNOCK": "nobody", "INGEST": None, "SYMBOLS": None, "SIGN": None}


def routes():
    """Verb, who and path of every row of the tables, as the server has them."""
    text = (mired.SOURCE / "server/src/api/routes.c").read_text()
    found = []
    for verb, who, path in re.findall(r"^    (GET|PUT|POST|DELETE)\((\w+), (.+?), \w+(?:, \w+)?\),$", text, re.M):
        path = path.replace("ISSUE", 'APP "/issues/{issue}"').replace("APP", 'API "/apps/{app}"').replace("API", '"/api/v1"')
        found.append((verb, who, "".join(re.findall(r'"([^"]*)"', path))))
    return found


class People(mired.Mired):
    """A mired with people in it."""

    def ask_as(self, cookie, method, path, body=None, **headers):
        more = {"Cookie": cookie} if cookie else {}
        return self.ask(method, path, None, body, **CHANGE, **more, **headers)

    def use(self, link, **more):
        """The cookie that a link gives."""
        body = {"link": link.strip().split("#")[1], "password": PASSWORD} | more
        status, headers, answer = self.ask_as(None, "POST", "/api/v1/welcome", body)
        assert status == 200, (status, answer)
        return headers["Set-Cookie"].split(";")[0]

    def user(self, *words):
        return self.mire("user", *words, "--data-dir", self.data)

    def sign_in(self, name, password=PASSWORD, **headers):
        return self.ask_as(None, "POST", "/api/v1/sign-in", {"name": name, "password": password}, **headers)

    def audit(self, cookie, path="/api/v1/audit"):
        status, _, body = self.ask_as(cookie, "GET", path)
        assert status == 200, (status, body)
        return json.loads(body)["rows"]


class Case(unittest.TestCase):
    settings, shared = (), None

    @classmethod
    def start(cls):
        cls.scratch = mired.scratch("people")
        unittest.addModuleCleanup(cls.scratch.cleanup)
        cls.server = People(pathlib.Path(cls.scratch.name), *cls.settings)
        unittest.addModuleCleanup(cls.server.stop)

    @classmethod
    def setUpClass(cls):
        cls.start()

    def status(self, cookie, method, path, body=None, **headers):
        return self.server.ask_as(cookie, method, path, body, **headers)[0]


class Shared(Case):
    """Several classes with one server, in which root is admin; each has apps of its own."""

    @classmethod
    def setUpClass(cls):
        if not hasattr(Shared, "server"):
            Shared.start()
            Shared.root = cls.server.use(cls.server.user("add", "root", "--server-admin"))


class Roles(Shared):
    """The column "who may" of the route table, asked from outside."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        server = cls.server
        cls.keys = {scope: server.key("shop", scope) for scope in ("ingest", "symbols", "rollout", "rules", "read", "admin")}
        cls.other = server.key("other", "admin")
        cls.cookies = {"nobody": None}
        cls.cookies["server"] = cls.root
        for role in ("viewer", "triager", "admin"):
            cls.cookies[role] = server.use(server.user("add", role, "--role", role, "--app", "shop"))
        cls.cookies["stranger"] = server.use(server.user("add", "stranger", "--role", "admin", "--app", "other"))

    def ask(self, verb, path, cookie=None, key=None):
        """The status of an empty question that changes nothing: a role is judged before a body is read."""
        path = path.replace("{app}", "shop").replace("{issue}", "H-1").replace("{report}", "x").replace("{plugin}", "x")
        path = re.sub(r"\{\w+\}", "0", path)
        body = b"" if verb in ("PUT", "POST") else None
        status, _, answer = self.server.ask(verb, path, key, body, **CHANGE, **({"Cookie": cookie} if cookie else {}))
        detail = json.loads(answer).get("detail", "") if answer.startswith(b"{") else ""
        return 404 if status == 404 and detail.startswith("There is no app") else 200 if status in (400, 404, 409, 415, 422) else status

    def test_every_route_of_the_contract_has_a_row(self):
        text = (mired.SOURCE / "schema/api/openapi.yaml").read_text()
        named = {(verb.upper(), path) for path, rest in re.findall(r"^  (/\S+):\n((?:    .*\n|\n)+)", text, re.M)
                 for verb in re.findall(r"^    (get|put|post|delete):", rest, re.M)}
        here = {(verb, path) for verb, _, path in routes()}
        self.assertGreater(len(here), 50)
        other = "".join((mired.SOURCE / "server/src" / name).read_text() for name in ("ingest/ingest.c", "daemon/health.c"))
        other = other.replace('MIRE_SENTRY_PATH "', '"/api/{project}/')
        for verb, path in named - here:
            self.assertIn(f'"{path}"', other, verb)

    def test_every_route_asks_every_role(self):
        for verb, who, path in routes():
            if path == "/api/v1/sign-in" and verb == "DELETE" or path == "/api/v1/sign-ins" and verb == "DELETE":
                continue  # they would end what the others ask with
            for role in ROLES:
                least = "admin" if who == "SYMBOLS" and "{app}" in path else LEAST[who]
                may = least is not None and (role != "nobody" if least == "member" else ROLES.index(role) >= ROLES.index(least))
                expected = 200 if may else 401 if role == "nobody" or least is None else 403
                with self.subTest(verb=verb, path=path, role=role):
                    self.assertEqual(self.ask(verb, path, self.cookies[role]), expected)

    def test_an_app_without_a_role_is_as_good_as_none(self):
        for verb, who, path in routes():
            if "{app}" in path and LEAST[who]:
                with self.subTest(verb=verb, path=path):
                    self.assertEqual(self.ask(verb, path, self.cookies["stranger"]), 404)
        _, _, body = self.server.ask_as(self.cookies["stranger"], "GET", "/api/v1/apps")
        self.assertEqual([app["slug"] for app in json.loads(body)["apps"]], ["other"])

    def test_every_route_asks_every_scope(self):
        own = {"ingest": {"INGEST"}, "symbols": {"SYMBOLS", "READ"}, "rollout": {"ROLLOUT", "READ"},
               "rules": {"RULES", "READ"}, "read": {"READ"},
               "admin": {"SYMBOLS", "ROLLOUT", "RULES", "READ", "ADMIN", "TRIAGE"}}
        for verb, who, path in routes():
            for scope, key in self.keys.items():
                may = who in own[scope] or who == "KNOCK"
                with self.subTest(verb=verb, path=path, scope=scope):
                    self.assertEqual(self.ask(verb, path, key=key), 200 if may else 401)
                    if "{app}" in path and scope == "admin":
                        self.assertEqual(self.ask(verb, path, key=self.other), 401)

    def test_paths_that_take_reports_are_for_ingest_keys_alone(self):
        text = (mired.SOURCE / "server/src/ingest/ingest.c").read_text()
        paths = re.findall(r'\.pattern = (.+?), \.handler', text)
        self.assertGreater(len(paths), 3)
        for path in (path.replace("MIRE_SENTRY_PATH", '"/api/{project}/"').replace('"', "").replace(" ", "") for path in paths):
            number = self.server.sql("SELECT app_id FROM app WHERE slug = 'shop'")[0]
            path = path.replace("{project}", number)
            for role in (*ROLES, "stranger"):
                with self.subTest(path=path, role=role):
                    self.assertEqual(self.ask("POST", path, self.cookies[role]), 401)
            for scope, key in self.keys.items():
                with self.subTest(path=path, scope=scope):
                    sentry = "/api/v1/" not in path
                    status = self.ask("POST", path + (f"?sentry_key={key}" if sentry else ""), key=None if sentry else key)
                    self.assertEqual(status, 200 if scope == "ingest" else 401)

    def test_a_key_sees_its_own_app_alone(self):
        _, _, body = self.server.ask("GET", "/api/v1/apps", self.keys["read"])
        self.assertEqual([app["slug"] for app in json.loads(body)["apps"]], ["shop"])

    def test_files_and_health_need_nothing(self):
        for path in ("/healthz", "/metrics", "/", "/shop/issues", "/-/sign-in"):
            self.assertIn(self.server.ask("GET", path)[0], (200, 503), path)

    def test_a_link_leads_a_browser_to_the_sign_in_and_back(self):
        import http.client
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port)
        connection.request("GET", "/i/H-1", headers={"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "cross-site"})
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.headers["Location"]), (302, "/-/sign-in?next=/i/H-1"))


class SignIn(Case):
    def test_a_first_run_needs_no_account_and_the_first_one_ends_that(self):
        server = self.server
        server.key("shop", "ingest")
        self.assertEqual(server.get("/sign-in")["mode"], "single")
        self.assertEqual(len(server.get("/apps")["apps"]), 1)
        self.assertEqual(self.status(None, "GET", "/api/v1/apps", X_Forwarded_For="192.0.2.1"), 401)
        link = server.user("add", "anna@example.com", "--server-admin")
        cookie = server.use(link)
        self.assertEqual(self.status(None, "GET", "/api/v1/apps"), 401)
        self.assertEqual(self.status(cookie, "GET", "/api/v1/apps"), 200)
        body = {"link": link.strip().split("#")[1], "password": PASSWORD}
        self.assertEqual(self.status(None, "POST", "/api/v1/welcome", body), 404, "a link is good once")

        status, headers, wrong = server.sign_in("anna@example.com", "not the password")
        other = server.sign_in("nobody@example.com", "not the password")
        self.assertEqual((status, other[0]), (401, 401))
        strip = lambda body: {k: v for k, v in json.loads(body).items() if k != "request_id"}  # noqa: E731
        self.assertEqual(strip(wrong), strip(other[2]), "an unknown name is answered like a wrong password")
        status, headers, _ = server.sign_in("Anna@Example.com")
        self.assertEqual(status, 200)
        second = headers["Set-Cookie"].split(";")[0]
        self.assertNotEqual(second, cookie)
        for word in ("HttpOnly", "SameSite=Lax", "Path=/"):
            self.assertIn(word, headers["Set-Cookie"])

        # A sign-in on top of another ends it: no secret outlives the moment.
        status, headers, _ = server.ask_as(second, "POST", "/api/v1/sign-in", {"name": "anna@example.com", "password": PASSWORD})
        third = headers["Set-Cookie"].split(";")[0]
        self.assertEqual([self.status(one, "GET", "/api/v1/apps") for one in (second, third)], [401, 200])

        self.assertEqual(self.status(third, "PUT", "/api/v1/password", {"old": "wrong", "new": "another password"}), 422)
        self.assertEqual(self.status(third, "PUT", "/api/v1/password", {"old": PASSWORD, "new": "short"}), 422)
        status, headers, _ = server.ask_as(third, "PUT", "/api/v1/password", {"old": PASSWORD, "new": "another password"})
        self.assertEqual(status, 200)
        fourth = headers["Set-Cookie"].split(";")[0]
        self.assertEqual([self.status(one, "GET", "/api/v1/apps") for one in (cookie, third, fourth)], [401, 401, 200])
        status, headers, _ = server.sign_in("anna@example.com", "another password")
        fifth = headers["Set-Cookie"].split(";")[0]
        made = server.ask_as(fifth, "POST", "/api/v1/tokens", {"label": "robot", "scope": "read", "days": 1})
        token = json.loads(made[2])["secret"]
        status, headers, _ = server.ask_as(fifth, "PUT", "/api/v1/password", {"old": "another password", "new": "a third password"})
        self.assertEqual(status, 200)
        fifth = headers["Set-Cookie"].split(";")[0]
        fourth = server.sign_in("anna@example.com", "a third password")[1]["Set-Cookie"].split(";")[0]
        sign_ins = json.loads(server.ask_as(fifth, "GET", "/api/v1/sign-ins")[2])["sign_ins"]
        self.assertEqual([one["is_this"] for one in sign_ins], [False, True])
        self.assertEqual(self.status(fifth, "DELETE", "/api/v1/sign-ins"), 200)
        self.assertEqual([self.status(one, "GET", "/api/v1/apps") for one in (fourth, fifth)], [401, 401])
        self.assertEqual(server.ask("GET", "/api/v1/apps", token)[0], 200, "neither a new password nor signing out ends a token")

        stored = server.sql("SELECT password FROM account")
        self.assertTrue(stored[0].startswith("$argon2id$"), stored)
        secrets = "".join(server.sql("SELECT encode(hash, 'hex') FROM credential"))
        self.assertNotIn(fifth.split("=")[1], secrets)

    def test_passwords_are_tried_slowly(self):
        statuses = [self.server.sign_in("victim", "guess")[0] for _ in range(14)]
        self.assertEqual(statuses[:6], [401] * 6)
        self.assertEqual(statuses[-1], 429)


class Tokens(Shared):
    def test_a_token_of_the_command_line(self):
        server, admin = self.server, self.root
        server.key("shop", "ingest")
        server.use(server.user("add", "lee", "--role", "viewer"))
        home = {"HOME": self.scratch.name, "XDG_CONFIG_HOME": ""}
        env = os.environ | {"MIRE_SERVER": server.url} | home
        env.pop("MIRE_KEY", None)
        self.assertIn("answered 401", server.mire("issues", "--app", "shop", code=1, **home))
        done = subprocess.run([mired.MIRE, "login", "--name", "lee"], input=PASSWORD + "\n", text=True, capture_output=True, env=env)
        self.assertEqual(done.returncode, 0, done)
        kept = pathlib.Path(self.scratch.name) / ".config/mire/tokens"
        self.assertEqual(kept.stat().st_mode & 0o777, 0o600)
        self.assertIn("No issues", server.mire("issues", "--app", "shop", **home))
        secret = kept.read_text().split()[1]
        self.assertEqual(server.ask("GET", "/api/v1/tokens", secret)[0], 403, "a token makes no tokens")
        # The token is of scope triage; its person may only view.
        self.assertEqual(server.ask("POST", "/api/v1/apps/shop/issues/H-1/merge", secret, {})[0], 403)
        self.assertEqual(server.ask("GET", "/api/v1/audit", secret)[0], 403)
        server.mire("logout", **home)
        self.assertEqual(kept.read_text(), "")
        self.assertEqual(server.ask("GET", "/api/v1/apps", secret)[0], 200)
        # An account that is disabled ends its tokens.
        body = {"is_server_admin": False, "is_disabled": True, "role": ""}
        self.assertEqual(self.status(admin, "PUT", "/api/v1/accounts/lee", body), 200)
        self.assertEqual(server.ask("GET", "/api/v1/apps", secret)[0], 401)
        self.assertEqual(server.sign_in("lee")[0], 401)
        self.assertEqual(self.status(admin, "PUT", "/api/v1/accounts/root", body), 409, "the last admin stays")

    def test_a_role_that_is_taken_away_ends_at_once(self):
        server = self.server
        server.key("lost", "ingest")
        kim = server.use(server.user("add", "kim", "--role", "admin", "--app", "lost"))
        path = "/api/v1/apps/lost/members/kim"
        self.assertEqual(self.status(kim, "PUT", path, {"role": "viewer"}), 200)
        self.assertEqual(self.status(kim, "PUT", path, {"role": "admin"}), 403)
        self.assertEqual(self.status(kim, "GET", "/api/v1/apps/lost/issues"), 200)


class Audit(Shared):
    def test_the_command_line_tells_what_the_page_tells(self):
        """Of a key that is rotated or revoked, the scope and the whole label, which is longer in bytes than in letters."""
        server, label = self.server, "\u00e9\u20ac" * 75
        server.mire("key", "create", "told", "--label", label, "--data-dir", server.data)
        server.mire("key", "rotate", "told", server.sql("SELECT max(key_id) FROM access_key")[0], "--data-dir", server.data)
        number = server.sql("SELECT max(key_id) FROM access_key")[0]
        server.mire("key", "revoke", "told", number, "--data-dir", server.data)
        rows = server.audit(self.root, "/api/v1/apps/told/audit")
        self.assertEqual([(row["action"], row["before"], row["after"]) for row in rows],
                         [("key.revoked", f"ingest: {label}", ""), ("key.rotated", f"ingest: {label}", f"key {number}"),
                          ("key.made", "", f"ingest, 0 days: {label}")])

    def test_a_message_cuts_between_characters(self):
        for path in ("/api/v1/apps/{}/issues", "/i/{}", "/r/{}", "/api/v1/nothing/{}", "/api/v1/accounts/{}", "/api/v1/apps?{}=1"):
            for shift in ("", "x", "xy"):
                name = urllib.parse.quote(shift + "\u20ac" * 100)
                method, body = ("PUT", {"is_server_admin": False, "is_disabled": False, "role": ""}) if "accounts" in path else ("GET", None)
                status, _, answer = self.server.ask_as(self.root, method, path.format(name), body)
                self.assertIn(status, (400, 404), path)
                detail = json.loads(answer)["detail"]
                self.assertNotIn("\ufffd", detail)

    def test_every_change_is_written_down(self):
        server, root = self.server, self.root
        server.key("audited", "ingest")
        anna = server.use(server.user("add", "anna", "--role", "admin", "--app", "audited"))
        status, _, body = server.ask_as(anna, "POST", "/api/v1/apps/audited/keys", {"scope": "rollout", "label": "=1+1"})
        self.assertEqual(status, 200, body)
        key = json.loads(body)["secret"]
        rollout = json.loads(server.ask_as(anna, "GET", "/api/v1/apps/audited/rollout")[2])
        change = {"base": 0, "reason": "quiet", "author": "somebody else", "rules": rollout["rules"] | {"kill": True}}
        self.assertEqual(self.status(anna, "PUT", "/api/v1/apps/audited/rollout", change), 201)
        held = json.loads(server.ask_as(anna, "GET", "/api/v1/apps/audited/rollout")[2])
        self.assertEqual(held["history"][0]["author"], "anna", "who signed in is the author, whatever is said")
        change |= {"base": 1, "rules": rollout["rules"], "author": "robot"}
        self.assertEqual(server.ask("PUT", "/api/v1/apps/audited/rollout", key, change)[0], 201)
        keys = json.loads(server.ask_as(anna, "GET", "/api/v1/apps/audited/keys")[2])["keys"]
        self.assertEqual(self.status(anna, "POST", f"/api/v1/apps/audited/keys/{keys[1]['id']}/rotate", {"days": 0}), 200)
        self.assertEqual(server.ask("GET", "/api/v1/apps/audited/issues", key)[0], 401)
        self.assertEqual(self.status(anna, "DELETE", f"/api/v1/apps/audited/keys/{keys[0]['id']}"), 200)
        server.sign_in("anna", "wrong wrong wrong")
        rows = server.audit(root, "/api/v1/apps/audited/audit")
        told = [(row["who"], row["via"], row["action"]) for row in rows]
        user = subprocess.run(["id", "-un"], capture_output=True, text=True).stdout.strip()
        number = keys[1]["id"]
        self.assertEqual(told, [("anna", "sign-in", "key.revoked"), ("anna", "sign-in", "key.rotated"),
                                (f"key {number}", "key", "rollout.changed"), ("anna", "sign-in", "rollout.changed"),
                                ("anna", "sign-in", "key.made"), (user, "command", "member.set"), (user, "command", "key.made")])
        self.assertEqual([row["before"] for row in rows[:2]], ["ingest: ", "rollout: =1+1"])
        self.assertIn('"kill":true', rows[2]["before"])
        self.assertIn('"kill":false', rows[2]["after"])
        self.assertEqual((rows[3]["before"], rows[3]["reason"], rows[3]["address"]), ("", "quiet", "127.0.0.1"))
        everything = [row["action"] for row in server.audit(root, "/api/v1/audit?limit=10000")]
        self.assertEqual(everything[0], "sign-in.failed")
        for action in ("account.added", "sign-in.made", "password.set"):
            self.assertIn(action, everything)
        whole = json.dumps(server.audit(root))
        self.assertNotIn(key, whole, "no secret is in the log")
        self.assertNotIn(PASSWORD, whole)
        _, headers, body = server.ask_as(root, "GET", "/api/v1/audit?format=csv")
        self.assertIn("attachment", headers["Content-Disposition"])
        table = list(csv.DictReader(io.StringIO(body.decode())))
        self.assertEqual([row["action"] for row in table], everything)
        self.assertTrue(all(not cell.startswith(("=", "+", "-", "@")) for row in table for cell in row.values()))
        self.assertEqual(self.status(anna, "GET", "/api/v1/audit"), 403)


    def test_an_admin_names_an_app_and_says_how_long_its_reports_stay(self):
        server, path = self.server, "/api/v1/apps/named/settings"
        server.key("named", "ingest")
        eve = server.use(server.user("add", "eve", "--role", "admin", "--app", "named"))
        read = lambda: json.loads(server.ask_as(eve, "GET", path)[2])  # noqa: E731
        none = {"quota_reports_day": None, "server_quota_reports_day": 0, "quota_bytes_day": None, "server_quota_bytes_day": 0,
                "enough_per_issue_day": None, "server_enough_per_issue_day": 1000, "idle": "archive", "server_idle_days": 365, "source_link": "", "source_root": "", "ticket_link": "", "owners": "", "goal_lag_percent": None, "goal_hang_s_per_hour": None, "goal_foom_percent": None,
                "goal_watchdog_percent": None, "goal_crash_percent": None, "merge_above": None,
                "left_out": [], "kept_tags": [], "door": []}
        self.assertEqual(read(), {"name": "named", "retention_days": None, "server_retention_days": 90, **none})
        for wrong in ({"name": "x"}, {"retention_days": 3}, {"name": "", "retention_days": 3}, {"name": "  ", "retention_days": 3},
                      {"name": "x" * 101, "retention_days": 3}, {"name": "x", "retention_days": -1},
                      {"name": "x", "retention_days": 36501}, {"name": "x", "retention_days": "3"}, {"name": 3, "retention_days": 3}):
            self.assertEqual(self.status(eve, "PUT", path, wrong), 422, wrong)
        self.assertEqual(self.status(eve, "PUT", path, {"name": "x", "retention_days": 3, "idle": "burn"}), 422)
        for way in ("keep", "delete", "archive"):
            self.assertEqual(self.status(eve, "PUT", path, {"name": "named", "retention_days": None, "idle": way}), 200)
            self.assertEqual(read()["idle"], way)
        self.assertEqual(self.status(eve, "PUT", path, {"name": "The shop", "retention_days": 30}), 200)
        self.assertEqual(read(), {"name": "The shop", "retention_days": 30, "server_retention_days": 90, **none})
        self.assertIn("The shop", [app["name"] for app in json.loads(server.ask_as(eve, "GET", "/api/v1/apps")[2])["apps"]])
        self.assertEqual(self.status(eve, "PUT", path, {"name": "The shop", "retention_days": None}), 200)
        self.assertIsNone(read()["retention_days"])
        row = server.audit(eve, "/api/v1/apps/named/audit")[0]
        self.assertEqual((row["action"], row["before"], row["after"]), ("settings.changed", "The shop; days that reports are kept: 30; reports a day: as the server is configured; bytes a day: as the server is configured; reports of an issue, version and day kept whole: as the server is configured; without reports for long: archive",
                                                                        "The shop; days that reports are kept: as the server is configured; reports a day: as the server is configured; bytes a day: as the server is configured; reports of an issue, version and day kept whole: as the server is configured; without reports for long: archive"))

    def test_admins_of_the_server_see_its_configuration(self):
        status, _, body = self.server.ask_as(self.root, "GET", "/api/v1/server")
        settings = {one["name"]: (one["value"], one["from"]) for one in json.loads(body)["settings"]}
        self.assertEqual(status, 200)
        self.assertEqual((settings["data_dir"], settings["workers"]), ((str(self.server.data), "flag"), ("2", "default")))
        table = (mired.SOURCE / "docs/configuration.md").read_text()
        self.assertEqual([name for name in settings if f"| `{name}` |" not in table], [])

    def test_an_upload_of_symbols_is_written_down(self):
        server, key = self.server, self.server.key("uploaded", "symbols")
        name = mired.BINARY / "tests/integration/spend"
        server.mire("symbols", "upload", name, MIRE_KEY=key)
        rows = [row for row in server.audit(self.root, "/api/v1/apps/uploaded/audit") if row["action"] == "symbols.added"]
        self.assertTrue(rows and rows[0]["subject"].startswith("spend") and re.match("[0-9a-f]{16,} ", rows[0]["after"]), rows)
        self.assertTrue(rows[0]["who"].startswith("key "), rows)


class FirstAdmin(Case):
    settings = ("--sign-in=yes", "--log-level=warn")

    @classmethod
    def setUpClass(cls):
        cls.log = None

    def test_the_log_has_a_link_for_the_first_admin(self):
        with mired.scratch("first") as folder:
            log = pathlib.Path(folder) / "log"

            class Logged(People):
                def popen(self, words):
                    with log.open("wb") as out:
                        return subprocess.Popen(words, stderr=out)

            server = Logged(pathlib.Path(folder), *self.settings)
            try:
                self.assertEqual(server.ask("GET", "/api/v1/apps")[0], 401)
                link = re.search(r'link="(\S+)"', log.read_text())[1]
                self.assertTrue(link.startswith(server.url), link)
                secret = link.split("#")[1]
                self.assertEqual(server.ask_as(None, "POST", "/api/v1/welcome", {"link": secret})[2], b'{"name":""}')
                cookie = server.use(link, name="Anna")
                self.assertEqual(server.ask_as(cookie, "GET", "/api/v1/accounts")[0], 200)
                server.stop()
                server.start()
                self.assertNotIn("first_admin", log.read_text(), "there is one now")
            finally:
                server.stop()


class Proxy(Case):
    settings = ("--trusted-proxies=127.0.0.1", "--proxy-user-header=X-Mire-User", "--default-role=viewer")

    def test_a_trusted_proxy_names_people(self):
        server = self.server
        server.key("shop", "ingest")
        self.assertEqual(self.status(None, "GET", "/api/v1/apps"), 401)
        self.assertEqual(self.status(None, "GET", "/api/v1/apps", X_Mire_User="Kim@Example.com"), 200)
        self.assertEqual(self.status(None, "GET", "/api/v1/apps", X_Mire_User="no name at all!"), 401)
        with raw.socket.create_connection(("127.0.0.1", server.port)) as sock:  # a proxy that adds its line to the client's
            sock.sendall(raw.head("GET", "/api/v1/apps", "X-Mire-User: root", "X-Mire-User: kim@example.com", "Connection: close"))
            self.assertEqual(raw.status_of(raw.read_all(sock)), 401)
        body = json.loads(server.ask("GET", "/api/v1/sign-in", X_Mire_User="kim@example.com")[2])
        self.assertEqual((body["who"]["name"], body["who"]["via"]), ("kim@example.com", "proxy"))
        self.assertEqual(body["who"]["roles"], [{"app": "*", "role": "viewer"}])
        self.assertEqual(self.status(None, "GET", "/api/v1/apps/shop/keys", X_Mire_User="kim@example.com"), 403)
        server.user("disable", "kim@example.com")
        mired.until("the account is refused",
                    lambda: self.status(None, "GET", "/api/v1/apps", X_Mire_User="kim@example.com") == 401)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
