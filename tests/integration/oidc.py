#!/usr/bin/python3
"""Sign-in by an OpenID provider: npm's oidc-provider as it is, and one that breaks a rule at a time (tests/oidc)."""

import base64
import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import unittest
import urllib.parse

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402

SOURCE = mired.SOURCE
KIT = SOURCE / "build/oidc"
NODE = SOURCE / "build/node/bin/node"
CHANGE = {"X-Mire-Change": "1", "Content-Type": "application/json"}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def node(*words, **env):
    """A program of the kit that says that it is ready."""
    process = subprocess.Popen([NODE if NODE.exists() else "node", *map(str, words)], cwd=KIT, stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.DEVNULL, env=os.environ | env)
    assert process.stdout.readline() == "ready\n", words
    return process


def end(process):
    process.kill()
    process.wait()


class Browser:
    """Cookies by origin, and no redirect by itself."""

    def __init__(self):
        self.jars = {}

    def ask(self, url, method="GET", body=None, **headers):
        at = urllib.parse.urlsplit(url)
        jar = self.jars.setdefault(at.netloc, {})
        connection = http.client.HTTPConnection(at.netloc, timeout=60)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if jar:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in jar.items())
        if body is not None and "Content-Type" not in headers:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection.request(method, at.path + ("?" + at.query if at.query else ""), body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        for line in answer.headers.get_all("Set-Cookie") or []:
            name, value = line.split(";")[0].split("=", 1)
            gone = re.search(r"max-age=0\b|expires=Thu, 01 Jan 1970", line, re.I)
            jar.pop(name, None) if gone else jar.__setitem__(name, value)
        connection.close()
        return answer.status, answer.headers, text

    def follow(self, url, until, name="anna"):
        """Go where redirects and the provider's forms lead, up to an address with `until` in it; that is not asked."""
        for _ in range(20):
            status, headers, text = self.ask(url, Sec_Fetch_Mode="navigate", Sec_Fetch_Site="cross-site")
            if status == 200 and "<form" in text:
                prompt = re.search(r'name="prompt" value="(\w+)"', text)[1]
                form = urllib.parse.urlencode({"prompt": prompt, "login": name, "password": "x"})
                action = urllib.parse.urljoin(url, re.search(r'action="([^"]+)"', text)[1])
                status, headers, text = self.ask(action, "POST", form)
            assert status in (302, 303), (status, url, text[:2000])
            url = urllib.parse.urljoin(url, headers["Location"])
            if until in url:
                return url
        raise AssertionError("it leads nowhere")


class Server(mired.Mired):
    """A mired that keeps its log."""

    def popen(self, words):
        self.log = self.folder / "log"
        with self.log.open("ab") as out:
            return subprocess.Popen([word if word != "--log-level=error" else "--log-level=info" for word in words], stderr=out)

    def sign_in(self, browser, name="anna", next="/"):
        """The whole way; the place where it ends."""
        start = f"{self.url}/-/oidc/start?" + urllib.parse.urlencode({"next": next})
        back = browser.follow(start, "/-/oidc/callback?", name)
        return self.back(browser, back)

    def back(self, browser, url):
        status, headers, text = browser.ask(url, Sec_Fetch_Mode="navigate", Sec_Fetch_Site="cross-site")
        assert status == 302, (status, text)
        return headers["Location"]

    def who(self, browser):
        return json.loads(browser.ask(self.url + "/api/v1/sign-in")[2])["who"]


def generate(folder, kind):
    """A key set with private keys, for the real provider."""
    path = folder / f"{kind}.json"
    text = f"""import {{ generateKeyPair, exportJWK }} from 'jose';
      const pair = await generateKeyPair('{kind}', {{ extractable: true }});
      const jwk = await exportJWK(pair.privateKey);
      console.log(JSON.stringify({{ keys: [{{ ...jwk, alg: '{kind}', use: 'sig', kid: '{kind}' + Date.now() }}] }}));"""
    made = subprocess.run([NODE if NODE.exists() else "node", "--input-type=module", "-e", text], cwd=KIT, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    path.write_text(made.stdout)
    return path


class Real(unittest.TestCase):
    """One mired and the real provider."""

    @classmethod
    def setUpClass(cls):
        scratch = mired.scratch("oidc")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.port = free_port()
        secret = cls.folder / "secret"
        secret.write_text("a secret: with / signs\n")
        cls.server = Server(cls.folder, "--sign-in=yes", f"--oidc-issuer=http://127.0.0.1:{cls.port}", "--oidc-client-id=mire & co",
                            f"--oidc-client-secret-file={secret}", "--oidc-name=Work",
                            "--oidc-roles=shop team = triager @ shop, everyone = viewer @ other, /mire-admins=server, lost = admin @ shop")
        cls.addClassCleanup(cls.server.stop)
        for app in ("shop", "other"):
            cls.server.key(app, "ingest")
        cls.server.user = lambda *words: cls.server.mire("user", *words, "--data-dir", cls.server.data)
        link = cls.server.user("add", "root", "--server-admin")
        cls.admin = Browser()
        cls.admin.ask(cls.server.url + "/api/v1/welcome", "POST",
                      json.dumps({"link": link.strip().split("#")[1], "password": "correct horse battery"}), **CHANGE)
        # The provider is away at first.
        mired.until("the log tells", lambda: "oidc.unreachable" in cls.server.log.read_text())
        status, headers, _ = Browser().ask(cls.server.url + "/-/oidc/start")
        cls.away = status, headers["Location"]
        cls.provider = None
        cls.be("RS256")
        cls.addClassCleanup(lambda: end(cls.provider))
        mired.until("the provider is asked again", lambda: "failed" not in Browser().ask(cls.server.url + "/-/oidc/start")[1]["Location"])

    @classmethod
    def be(cls, kind, **env):
        if cls.provider:
            end(cls.provider)
        cls.provider = node("provider.mjs", cls.port, generate(cls.folder, kind), f"{cls.server.url}/-/oidc/callback", ALG=kind, **env)

    def audit(self):
        return json.loads(self.admin.ask(self.server.url + "/api/v1/audit?limit=1000")[2])["rows"]

    def test_1_a_provider_that_is_away_is_told(self):
        self.assertEqual(self.away, (302, "/-/sign-in?failed=unreachable"))
        self.assertRegex(self.server.log.read_text(), r"oidc.unreachable why=.*openid-configuration: .*connect.* what=.*check oidc_issuer")

    def test_2_a_person_signs_in_with_the_roles_of_the_groups_and_out_again(self):
        server, browser = self.server, Browser()
        self.assertEqual(json.loads(browser.ask(server.url + "/api/v1/sign-in")[2])["provider"], "Work")
        self.assertEqual(server.sign_in(browser, next="/shop/issues?t=7d"), "/shop/issues?t=7d")
        self.assertNotIn("mire_oidc", browser.jars[server.url[7:]], "the secret of the flow is gone")
        who = server.who(browser)
        self.assertEqual((who["name"], who["via"], who["is_server_admin"]), ("anna@example.com", "sign-in", False))
        self.assertEqual(who["roles"], [{"app": "other", "role": "viewer"}, {"app": "shop", "role": "triager"}])
        self.assertEqual(browser.ask(server.url + "/api/v1/apps/shop/issues")[0], 200)
        self.assertEqual(browser.ask(server.url + "/api/v1/apps/shop/keys")[0], 403)
        told = [(row["who"], row["action"], row["after"]) for row in self.audit()][:3]
        self.assertEqual(told, [("anna@example.com", "sign-in.made", ""),
                                ("anna@example.com", "account.changed", "triager of shop, viewer of other"),
                                ("anna@example.com", "account.added", "")])
        # A role that was given by hand ends at the next sign-in: the provider decides.
        self.admin.ask(server.url + "/api/v1/apps/shop/members/anna@example.com", "PUT", json.dumps({"role": "admin"}), **CHANGE)
        cookie = dict(browser.jars[server.url[7:]])
        self.assertEqual(server.sign_in(browser), "/")
        self.assertEqual(server.who(browser)["roles"], [{"app": "other", "role": "viewer"}, {"app": "shop", "role": "triager"}])
        self.assertEqual(len(server.sql("SELECT 1 FROM account WHERE source = 'oidc' AND name LIKE 'anna%'")), 1, "it is the same account")
        old = Browser()
        old.jars = {server.url[7:]: cookie}
        self.assertIsNone(server.who(old), "the sign-in before has ended")
        status, _, text = browser.ask(server.url + "/api/v1/sign-in", "DELETE", **CHANGE)
        leave = json.loads(text)["leave"]
        self.assertEqual(status, 200)
        self.assertTrue(leave.startswith(f"http://127.0.0.1:{self.port}/session/end?"), leave)
        status, _, page = browser.ask(leave)
        self.assertEqual((status, "<form" in page), (200, True), page)
        self.assertIsNone(server.who(browser))
        self.assertEqual(json.loads(self.admin.ask(server.url + "/api/v1/sign-in")[2])["who"]["name"], "root")

    def test_3_nobody_becomes_another_by_name_or_address(self):
        server = self.server
        for name, expected in (("root", "root-2"), ("fake", "root-3"), ("boss", "boss")):
            browser = Browser()
            server.sign_in(browser, name)
            who = server.who(browser)
            self.assertEqual((who["name"], who["is_server_admin"]), (expected, name == "boss"), name)
        self.assertEqual(json.loads(self.admin.ask(server.url + "/api/v1/accounts")[2])["accounts"][-3]["source"], "local")
        # One who is disabled stays out, whatever the provider says.
        self.admin.ask(server.url + "/api/v1/accounts/root-2", "PUT",
                       json.dumps({"is_server_admin": False, "is_disabled": True, "role": ""}), **CHANGE)
        browser = Browser()
        self.assertEqual(server.sign_in(browser, "root"), "/-/sign-in?failed=disabled")
        self.assertIsNone(server.who(browser))

    def test_4_a_code_of_the_profile_page_signs_the_command_line_in(self):
        server, browser = self.server, Browser()
        server.sign_in(browser)
        status, _, text = browser.ask(server.url + "/api/v1/code", "POST", "{}", **CHANGE)
        self.assertEqual(status, 200, text)
        code = json.loads(text)["code"]
        env = os.environ | {"MIRE_SERVER": server.url, "HOME": str(self.folder), "XDG_CONFIG_HOME": ""}
        env.pop("MIRE_KEY", None)
        login = lambda: subprocess.run([mired.MIRE, "login"], input=code + "\n", text=True, capture_output=True, env=env)  # noqa: E731
        done = login()
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("/-/profile", done.stderr)
        self.assertIn("No issues", server.mire("issues", "--app", "shop", HOME=str(self.folder), XDG_CONFIG_HOME=""))
        done = login()
        self.assertEqual(done.returncode, 1, "a code is good once")
        browser.ask(server.url + "/api/v1/code", "POST", "{}", **CHANGE)
        token = (self.folder / ".config/mire/tokens").read_text().split()[1]
        self.assertEqual(server.ask("POST", "/api/v1/code", token, {})[0], 403, "a token makes no codes")

    def test_5_a_code_a_state_and_a_cookie_are_good_together_and_once(self):
        server, browser, thief = self.server, Browser(), Browser()
        back = browser.follow(server.url + "/-/oidc/start", "/-/oidc/callback?")
        begun = dict(browser.jars[server.url[7:]])
        # A browser that began nothing, one that began another sign-in, another state.
        self.assertEqual(server.back(thief, back), "/-/sign-in?failed=stale")
        thief.ask(server.url + "/-/oidc/start")
        self.assertEqual(server.back(thief, back), "/-/sign-in?failed=stale")
        parts = urllib.parse.urlsplit(back)
        query = dict(urllib.parse.parse_qsl(parts.query))
        for lie in ({"state": "0" * 64}, {"state": ""}, {"state": query["state"][:-1]}, {"state": query["state"] + "0"}):
            browser.jars[server.url[7:]] = dict(begun)
            self.assertEqual(server.back(browser, f"{server.url}{parts.path}?{urllib.parse.urlencode(query | lie)}"),
                             "/-/sign-in?failed=stale", lie)
        # A cookie from before ten minutes, and of the future.
        for shift in (-601, 3600):
            stamp, rest = begun["mire_oidc"].split(".", 1)
            browser.jars[server.url[7:]] = {"mire_oidc": f"{int(stamp, 16) + shift:x}.{rest}"}
            self.assertEqual(server.back(browser, back), "/-/sign-in?failed=stale", shift)
        for lie, outcome in (({"iss": "https://other.example"}, "untrusted"), ({"code": "another"}, "refused")):
            browser.jars[server.url[7:]] = dict(begun)
            self.assertEqual(server.back(browser, f"{server.url}{parts.path}?{urllib.parse.urlencode(query | lie)}"),
                             f"/-/sign-in?failed={outcome}", lie)
        browser.jars[server.url[7:]] = dict(begun)
        self.assertEqual(server.back(browser, back), "/")
        self.assertEqual(server.who(browser)["name"], "anna@example.com")
        # The code again, with the secret that belongs to it: the provider refuses it, and nobody is signed in.
        replay = Browser()
        replay.jars[server.url[7:]] = dict(begun)
        self.assertEqual(server.back(replay, back), "/-/sign-in?failed=refused")
        self.assertIsNone(server.who(replay))
        self.assertEqual(self.audit()[0]["action"], "sign-in.failed")
        # The person says no.
        browser.jars[server.url[7:]] = dict(begun)
        said_no = urllib.parse.urlencode({"error": "access_denied", "state": query["state"], "iss": query["iss"]})
        self.assertEqual(server.back(browser, f"{server.url}{parts.path}?{said_no}"), "/-/sign-in?failed=refused")

    def test_6_no_way_leads_to_another_site(self):
        server = self.server
        for next in ("https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)", "/\t/evil.example",
                     "/%09/x;y", "/x\r\nSet-Cookie: a=b", "/" + "x" * 5000, "evil.example", ""):
            browser = Browser()
            self.assertEqual(server.sign_in(browser, next=next), "/", next)
        # A next that was put into the cookie by hand.
        browser = Browser()
        back = browser.follow(server.url + "/-/oidc/start", "/-/oidc/callback?")
        jar = browser.jars[server.url[7:]]
        jar["mire_oidc"] = jar["mire_oidc"].rsplit(".", 1)[0] + ".//evil.example"
        self.assertEqual(server.back(browser, back), "/")

    def test_7_keys_rotate_and_other_algorithms_do(self):
        for kind, env in (("ES256", {"GROUPS_BY_USERINFO": "1"}), ("EdDSA", {}), ("PS256", {})):
            self.be(kind, **env)
            mired.until(f"{kind} is taken", lambda: self.server.sign_in(browser := Browser()) == "/" and self.server.who(browser)["roles"]
                        == [{"app": "other", "role": "viewer"}, {"app": "shop", "role": "triager"}], 60)


    def test_8_the_doctor_asks_the_provider(self):
        words = [mired.BINARY / "server/mired", "doctor", f"--data-dir={self.server.data}", "--oidc-client-id=x"]
        for port, text in ((self.port, "ok    OpenID provider: answers"), (free_port(), "bad   OpenID provider: http")):
            done = subprocess.run([*words, f"--oidc-issuer=http://127.0.0.1:{port}"], capture_output=True, text=True, timeout=60)
            self.assertIn(text, done.stdout)


class Lies(unittest.TestCase):
    """A provider that breaks a rule at a time."""

    @classmethod
    def setUpClass(cls):
        scratch = mired.scratch("lies")
        cls.addClassCleanup(scratch.cleanup)
        port = free_port()
        cls.liar = node("liar.mjs", port)
        cls.addClassCleanup(lambda: end(cls.liar))
        cls.provider = f"http://127.0.0.1:{port}"
        cls.server = Server(pathlib.Path(scratch.name), "--sign-in=yes", f"--oidc-issuer={cls.provider}", "--oidc-client-id=mire",
                            "--oidc-roles=of userinfo = admin", "--oidc-default-role=viewer", "--handlers=4")
        cls.addClassCleanup(cls.server.stop)

    def told(self, what):
        """What the provider was asked, once it is to be so."""
        return json.loads(Browser().ask(f"{self.provider}/be?what={urllib.parse.quote(what)}")[2])

    def outcome(self, what):
        self.told(what)
        browser = Browser()
        place = self.server.sign_in(browser)
        who = self.server.who(browser)
        self.assertEqual(place == "/", who is not None, what)
        return place.split("=")[-1] if "failed" in place else "in"

    def test_what_is_good_is_taken(self):
        for what in ("good", "RS256", "PS256", "ES256", "ES384", "ES512", "EdDSA", "two clients, ours", "expired a minute ago", "a minute ahead"):
            with self.subTest(what):
                self.assertEqual(self.outcome(what), "in")
        forms = self.told("good")["forms"]
        self.assertTrue(all(form["client_id"] == "mire" and len(form["code_verifier"]) >= 43 and "client_secret" not in form for form in forms))
        self.assertEqual(self.server.sql("SELECT role FROM member"), ["admin"], "the groups are those that userinfo tells")

    def test_what_breaks_a_rule_is_refused(self):
        lies = ["none", "None", "no algorithm", "no signature", "mac under the public key", "mac under a key of the set",
                "mac under the client secret", "key of another", "key in the header", "algorithm of another key", "critical extension",
                "changed claims", "two parts", "five parts", "no token", "other issuer", "other client", "two clients", "party is another",
                "wrong nonce", "no nonce", "no subject", "subject is a number", "long subject", "expired", "an hour ahead", "not yet",
                "no expiry", "no time", "expiry is text", "mix-up", "no issuer", "tells of another"]
        for what in lies:
            with self.subTest(what):
                self.assertEqual(self.outcome(what), "untrusted")
        for what, expected in (("refuses", "refused"), ("redirects", "refused"), ("is no json", "refused"), ("fails", "unreachable"),
                               ("is huge", "unreachable")):
            with self.subTest(what):
                self.assertEqual(self.outcome(what), expected)

    def test_keys_that_rotate_are_read_again_but_not_at_every_lie(self):
        self.assertIn(self.outcome("key in the header"), ("untrusted",))
        before = self.told("key in the header")["asked"]
        for _ in range(3):
            self.outcome("key in the header")
        self.assertLessEqual(self.told("rotated")["asked"] - before, 3)
        mired.until("the new key is read", lambda: self.outcome("rotated") == "in", 60)

    def test_one_that_hangs_leaves_the_others_alone(self):
        self.told("hangs")
        waiting, backs = [], []
        for _ in range(4):
            browser = Browser()
            backs.append((browser.follow(self.server.url + "/-/oidc/start", "/-/oidc/callback?"), browser.jars[self.server.url[7:]]))
        for back, jar in backs:
            at = urllib.parse.urlsplit(back)
            one = http.client.HTTPConnection(at.netloc, timeout=120)
            one.request("GET", f"{at.path}?{at.query}", headers={"Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())})
            waiting.append(one)
        self.assertIn("127.0.0.1", Browser().ask(self.server.url + "/-/oidc/start")[1]["Location"], "others begin all the same")
        begun = time.monotonic()
        self.assertEqual(self.server.ask("GET", "/api/v1/sign-in")[0], 200)
        answered = time.monotonic() - begun
        places = sorted(one.getresponse().headers["Location"].split("=")[-1] for one in waiting)
        took = time.monotonic() - begun
        self.assertEqual(places, ["busy", "busy", "unreachable", "unreachable"])
        self.assertLess(answered, took / 2, "half of the handlers were free")


class Settings(unittest.TestCase):
    """`mired check` names what is wrong before anybody stands before a closed door."""

    def check(self, *words):
        done = subprocess.run([mired.BINARY / "server/mired", "check", *words], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout

    def test_what_is_wrong_is_named(self):
        good = ("--oidc-issuer=https://id.example/realms/x", "--oidc-client-id=mire")
        self.assertEqual(self.check(*good)[0], 0)
        for word, text in (("--oidc-issuer=http://id.example", "must be https://"), ("--oidc-issuer=https://id.example/?x", "must be https://"),
                           ("--oidc-client-id=", "name of this client"), ("--oidc-client-secret-file=/nonexistent", "No such file"),
                           ("--oidc-roles=staff", "GROUP = ROLE"), ("--oidc-roles=a = boss", "viewer, triager, admin or server"),
                           ("--oidc-roles=a = server @ shop", "of no app"), ("--oidc-default-role=boss", "none, viewer"),
                           ("--listen=0.0.0.0:7117", "leads browsers back"), ("--sign-in=no", "nobody signs in")):
            status, told = self.check(*good, word)
            self.assertEqual(status, 1, word)
            self.assertIn(text, told)


if __name__ == "__main__":
    done = subprocess.run([SOURCE / "tests/support/npm.sh", "oidc"], capture_output=True, text=True, timeout=600)
    if done.returncode == 77:
        print(done.stdout)
        sys.exit(77)
    assert done.returncode == 0, done
    unittest.main(warnings="ignore")
