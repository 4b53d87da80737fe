#!/usr/bin/env python3
"""
Each proxy file of deploy/ in front of mired, with a real device, command line and browser: who reaches what, with a
password, with a key, and with neither. Names, ports, passwords and TLS alone are replaced.
"""

import base64
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading
import unittest
import urllib.error
import urllib.request
import uuid

sys.path.insert(0, os.path.join(os.environ["MIRE_SOURCE_DIR"], "tests/support"))
import mired  # noqa: E402

PEOPLE = "Basic " + base64.b64encode(b"anna:secret").decode()
PATH = os.environ["PATH"] + ":/usr/sbin"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def replaced(name, *pairs):
    text = (mired.SOURCE / "deploy" / name).read_text()
    for old, new in pairs:
        assert old in text, (name, old)
        text = text.replace(old, new)
    return text


def nginx(folder, behind, port):
    text = replaced("nginx.conf", ("127.0.0.1:7117", f"127.0.0.1:{behind}"), ("listen 80;", f"listen 127.0.0.1:{free_port()};"),
                    ("listen 443 ssl http2;", f"listen 127.0.0.1:{port};"), ("mire.example.com", "127.0.0.1"),
                    ("/etc/nginx/mire.users", str(folder / "users")))
    text = re.sub(r"\n    ssl_.*", "", text)
    (folder / "users").write_text("anna:{PLAIN}secret\n")
    places = "".join(f"{kind}_temp_path {folder}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(f"pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
                                       f"http {{ access_log off; {places}\n{text} }}\n")
    return ["nginx", "-c", folder / "nginx.conf", "-g", "daemon off;"]


def caddy(folder, behind, port):
    made = subprocess.run(["caddy", "hash-password", "--plaintext", "secret"], capture_output=True, text=True, check=True)
    text = replaced("Caddyfile", ("127.0.0.1:7117", f"127.0.0.1:{behind}"), ("mire.example.com", f"http://127.0.0.1:{port}"),
                    ("anna HASH", f"anna {made.stdout.strip()}"), ("{\n\tservers", "{\n\tadmin off\n\tauto_https off\n\tservers"))
    (folder / "Caddyfile").write_text(text)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", folder / "Caddyfile"]


def status(url, method="GET", body=None, **headers):
    """The status of an answer and its body."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers, method=method), timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.read()


def page(folder):
    """The least dashboard: a script that asks the API and shows what came."""
    web = folder / "web"
    (web / "assets").mkdir(parents=True)
    (web / "index.html").write_text('<!doctype html><title>Mire</title><p id="apps"></p><script src="/assets/app.js"></script>')
    (web / "assets/app.js").write_text('fetch(location.origin + "/api/v1/apps").then((answer) => answer.json()).then((apps) => {'
                                       ' document.getElementById("apps").textContent = JSON.stringify(apps); });')
    return web


class Behind:
    """A proxy in front of a mired; subclasses say which."""

    program, configure = None, None

    @classmethod
    def setUpClass(cls):
        if not shutil.which(cls.program, path=PATH):
            raise unittest.SkipTest(f"{cls.program} is not installed")
        cls.scratch = mired.scratch(cls.program)
        cls.folder, port = pathlib.Path(cls.scratch.name), free_port()
        cls.server = mired.Mired(cls.folder, "--trusted-proxies=127.0.0.1", "--proxy-user-header=X-Mire-User",
                                 "--default-role=triager", f"--web-dir={page(cls.folder)}")
        words = cls.configure(cls.folder, cls.server.port, port)
        with (cls.folder / "proxy.log").open("w") as log:
            cls.front = subprocess.Popen(words, stdout=log, stderr=log, env=os.environ | {
                "PATH": PATH, "HOME": cls.scratch.name, "XDG_DATA_HOME": cls.scratch.name, "XDG_CONFIG_HOME": cls.scratch.name})
        cls.url = f"http://127.0.0.1:{port}"
        mired.until("the proxy listens", lambda: not socket.socket().connect_ex(("127.0.0.1", port)))
        cls.keys = {scope: cls.server.key("shop", scope) for scope in ("ingest", "symbols", "rollout", "rules", "read")}

    @classmethod
    def tearDownClass(cls):
        cls.front.terminate()
        cls.front.wait(60)
        cls.server.stop()
        cls.scratch.cleanup()

    def bearer(self, scope):
        return f"Bearer {self.keys[scope]}"

    def test_people_need_a_password(self):
        for path in ("/", "/api/v1/apps", "/shop/issues", "/api/v1/apps/shop/issues"):
            self.assertEqual(status(self.url + path)[0], 401, path)
            self.assertEqual(status(self.url + path, Authorization="Bearer nonsense")[0], 401, path)
            self.assertEqual(status(self.url + path, Authorization=PEOPLE)[0], 200, path)
        self.assertEqual(status(self.url + "/metrics", Authorization=PEOPLE)[0], 403)

    def test_a_change_is_told_to_a_page_that_waits(self):
        path = self.url + "/api/v1/apps/shop/live"
        id = re.search(rb"id: (\S+)", status(path, Authorization=PEOPLE)[1])[1].decode()
        told = []
        waits = threading.Thread(target=lambda: told.append(status(f"{path}?seen={id}", Authorization=PEOPLE)))
        waits.start()
        mired.until("it waits", lambda: b"mire_live_waiting 1" in status(self.server.url + "/metrics")[1])
        made = status(self.url + "/api/v1/apps/shop/rules", "PUT", json.dumps({"base": 0, "author": "anna", "reason": "tried", "rules": "own libcart.so*\n"}).encode(),
                      Authorization=self.bearer("rules"), Content_Type="application/json")
        self.assertEqual(made[0], 201, made)
        waits.join(300)
        self.assertEqual(told[0][0], 200, told)
        self.assertNotIn(id.encode(), told[0][1])

    def test_a_key_opens_its_scope_and_no_more(self):
        unknown = "Bearer mk_" + "a" * 40
        for path in ("/api/v1/apps", "/api/v1/apps/shop/issues", "/i/H-1"):
            self.assertEqual(status(self.url + path, Authorization=self.bearer("ingest"))[0], 401, path)
            self.assertEqual(status(self.url + path, Authorization=unknown)[0], 401, path)
        self.assertEqual(status(self.url + "/api/v1/apps/shop/issues", Authorization=self.bearer("read"))[0], 200)
        code, _ = status(self.url + "/api/v1/apps/shop/issues/H-1/merge", "POST", b"{}", X_Mire_Change="1", Authorization=unknown)
        self.assertEqual(code, 401)

    def test_a_device_asks_for_the_rollout_by_its_key(self):
        code, body = status(self.url + "/api/v1/rollout", Authorization=self.bearer("ingest"))
        self.assertEqual(code, 200, body)
        self.assertEqual(status(self.url + "/api/v1/rollout")[0], 401)

    def test_an_sdk_of_sentrys_sends_with_its_dsn(self):
        number = self.server.sql("SELECT app_id FROM app WHERE slug = 'shop'")[0]
        for path in ("envelope/", "store/"):
            body = json.dumps({"event_id": uuid.uuid4().hex, "message": "slow", "platform": "python"})
            if path == "envelope/":
                body = "{}\n" + json.dumps({"type": "event"}) + f"\n{body}\n"
            url = f"{self.url}/api/{number}/{path}"
            auth = f"Sentry sentry_version=7, sentry_key={self.keys['ingest']}"
            self.assertEqual(status(url, "POST", body.encode(), X_Sentry_Auth=auth)[0], 200, path)
            self.assertEqual(status(f"{url}?sentry_key={self.keys['ingest']}", "POST", body.encode())[0], 200, path)
            self.assertEqual(status(url, "POST", body.encode(), X_Sentry_Auth=auth[:-2])[0], 401, path)
            # No password was asked for, so a name that is told is nobody's.
            before = self.server.sql("SELECT count(*) FROM account")
            name = "Basic " + base64.b64encode(b"mallory:x").decode()
            self.assertEqual(status(url, "POST", body.encode(), Authorization=name)[0], 401, path)
            self.assertEqual(self.server.sql("SELECT count(*) FROM account"), before)

    def test_a_real_program_sends_its_hang(self):
        script = "import select, time\nselect.select([], [], [], 0.2)\nend = time.time() + 1.5\nwhile time.time() < end: pass\n" \
                 "select.select([], [], [], 0.5)\n"
        done = subprocess.run([mired.MIRE, "run", "--server", self.url, "--app", "shop", "--threshold", "500", "--",
                               "/usr/bin/python3", "-c", script], capture_output=True, text=True, timeout=120,
                              env=os.environ | {"MIRE_KEY": self.keys["ingest"], "XDG_STATE_HOME": str(self.folder / "state"),
                                                "XDG_CACHE_HOME": str(self.folder / "state")})
        self.assertEqual(done.returncode, 0, done)
        mired.until("the hang is an issue", lambda: b'"issues":[{' in status(
            self.url + "/api/v1/apps/shop/issues", Authorization=PEOPLE)[1])

    def test_the_proxy_names_the_person_and_nobody_else_can(self):
        code, body = status(self.url + "/api/v1/sign-in", Authorization=PEOPLE, X_Mire_User="root")
        self.assertEqual(code, 200)
        who = json.loads(body)["who"]
        self.assertEqual((who["name"], who["via"], who["roles"]), ("anna", "proxy", [{"app": "*", "role": "triager"}]))
        for scope in ("read", "ingest"):
            code, body = status(self.url + "/api/v1/sign-in", Authorization=self.bearer(scope), X_Mire_User="anna")
            self.assertEqual(json.loads(body)["who"]["via"], "key")

    def test_changes_by_key_come_through(self):
        self.server.mire("rollout", "kill", "shop", "--reason", "test", MIRE_SERVER=self.url, MIRE_KEY=self.keys["rollout"])
        code, body = status(self.url + "/api/v1/rollout", Authorization=self.bearer("ingest"))
        self.assertEqual(code, 200)
        self.assertIn(b'"kill":true', body)
        self.server.mire("rollout", "revive", "shop", "--reason", "test", MIRE_SERVER=self.url, MIRE_KEY=self.keys["rollout"])
        code, body = status(self.url + "/api/v1/apps/shop/rules/preview", "POST", b'{"rules":""}', Authorization=self.bearer("rules"),
                            Content_Type="application/json")
        self.assertIn(code, (200, 201, 202), body)

    def test_debug_files_are_uploaded_in_parts(self):
        debug = self.folder / "app.debug"
        program = "char ballast[9 << 20] = {1};\nint main(void) { return ballast[0]; }\n"  # more than one part
        subprocess.run(["cc", "-g", "-Wl,--build-id", "-o", debug, "-x", "c", "-"], input=program, text=True, check=True)
        said = self.server.mire("symbols", "upload", "--key", self.keys["symbols"], debug, MIRE_SERVER=self.url)
        self.assertIn("1 stored, 0 there already, 0 failed", said)
        said = self.server.mire("symbols", "upload", "--key", self.keys["symbols"], debug, MIRE_SERVER=self.url)
        self.assertIn("0 stored, 1 there already", said)

    def test_a_browser_asks_the_api_behind_the_password(self):
        browser = shutil.which("chromium")
        if not browser:
            self.skipTest("chromium is not installed")
        url = self.url.replace("http://", "http://anna:secret@")
        done = subprocess.run([browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000",
                               f"--user-data-dir={self.folder}/browser", "--dump-dom", url + "/shop"],
                              capture_output=True, text=True, timeout=240)
        self.assertRegex(done.stdout, r'<p id="apps">.*shop.*</p>', done.stderr[-2000:])


class Nginx(Behind, unittest.TestCase):
    program, configure = "nginx", staticmethod(nginx)


class Caddy(Behind, unittest.TestCase):
    program, configure = "caddy", staticmethod(caddy)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
