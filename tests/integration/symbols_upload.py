#!/usr/bin/env python3
"""integration/symbols-upload - uploads of debug files in parts: broken off and gone on with, with wrong parts, with a lost answer."""

import fcntl
import hashlib
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import unittest
import zipfile

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from late import Late  # noqa: E402
from mired import MIRE, until  # noqa: E402


class Forgetful(http.server.BaseHTTPRequestHandler):
    """A proxy that loses the first answer that a file is stored."""
    mired = None
    passed = []  # method, bytes of body, status

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, _, answer = self.mired.ask(self.command, self.path, self.headers["Authorization"].split()[1], body)
        lost = status == 201 and 201 not in [one[2] for one in self.passed]
        self.passed.append((self.command, len(body), status))
        if not lost:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(answer)

    do_PUT = do_POST = do_GET

    def log_message(self, *_):
        pass


class UploadTest(Late):
    def test_archives_are_unpacked_on_the_disk(self):
        """While the server checks the first one, the others wait in files without a name, not in memory."""
        _, debug, build = self.program("by-archive", 33)
        packed = debug.with_name("app.zip")
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(debug, "app.debug")
        unpacked = self.folder / "unpacked"
        unpacked.mkdir()
        with open(self.mired.data / "cache/checking", "w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            upload = subprocess.Popen([MIRE, "symbols", "upload", "--key", self.key("by-archive", "symbols"), packed], stdout=subprocess.PIPE,
                                      env=os.environ | {"MIRE_SERVER": self.url, "TMPDIR": str(unpacked)})
            sent = f"/api/v1/symbols/uploads/{hashlib.blake2b(debug.read_bytes(), digest_size=32).hexdigest()}"
            until("all of it has come", lambda: json.loads(self.mired.ask("GET", sent, self.key("by-archive", "symbols"))[2])["have_bytes"])
            links = [os.readlink(f"/proc/{upload.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{upload.pid}/fd")]
            self.assertEqual(len([one for one in links if one.startswith(f"{unpacked}/")]), 1, links)
        self.assertRegex(upload.communicate(timeout=300)[0].decode(), rf"(?m)^stored  {build} .*app.zip: app.debug$")

    def test_an_answer_that_is_lost_is_asked_for_again(self):
        Forgetful.mired = self.mired
        proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Forgetful)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        _, debug, build = self.program("by-forgetful", 32, ballast=10 << 20)
        said = self.mire("symbols", "upload", "--server", f"http://127.0.0.1:{proxy.server_port}", "--key",
                         self.key("by-forgetful", "symbols"), debug)
        proxy.shutdown()
        proxy.server_close()
        self.assertRegex(said, rf"(?m)^stored  {build} ")
        stored = [one[2] for one in Forgetful.passed].index(201)
        self.assertEqual(Forgetful.passed[stored + 1:], [("GET", 0, 200), ("PUT", 0, 201)])

    def test_an_upload_goes_on_where_it_stopped(self):
        _, debug, build = self.program("in-parts", 4, ballast=96 << 20)
        key, size = self.key("in-parts", "symbols"), debug.stat().st_size
        sums = subprocess.run(["b2sum", "-l", "256", debug], check=True, capture_output=True, text=True).stdout.split()[0]
        have = lambda: self.ask("GET", f"/symbols/uploads/{sums}", key, None)[1]["have_bytes"]  # noqa: E731
        words = [MIRE, "symbols", "upload", "--key", key, debug]
        first = subprocess.Popen(words, env=os.environ | {"MIRE_SERVER": self.url}, stdout=subprocess.DEVNULL)
        until("some of it has come", lambda: have() > 0)
        first.kill()
        first.wait()
        came = have()
        self.assertTrue(0 < came < size, "it was killed in the middle")
        said = self.mire("symbols", "upload", "--key", key, debug)
        self.assertRegex(said, rf"(?m)^stored  {build}  debug ")
        self.assertEqual(have(), 0, "what is whole is no upload any more")
        there = {one["build_id"]: one for one in self.get("/apps/in-parts/symbols")["files"]}
        self.assertEqual(there[build]["size_bytes"], size)

    def test_parts_that_are_wrong_are_refused(self):
        key, sums = self.key("wrong", "symbols"), "ab" * 32
        part = os.urandom(1 << 20)
        total = 2 << 20
        good = subprocess.run(["b2sum", "-l", "256"], input=part, check=True, capture_output=True).stdout.decode().split()[0]
        put = lambda at, body, hashed=good, size=total: self.ask(  # noqa: E731
            "PUT", f"/symbols/uploads/{sums}?at={at}&size={size}&sum={hashed}&name=x", key, body)
        self.assertEqual(put(0, part, "00" * 32)[0], 422)
        self.assertEqual(put(5, part)[0], 400)
        self.assertEqual(put(0, part[:100])[0], 400)
        self.assertEqual(put(1 << 20, part), (409, {"have_bytes": 0}))
        self.assertEqual(put(0, part), (202, {"have_bytes": 1 << 20}))
        self.assertEqual(put(0, part), (409, {"have_bytes": 1 << 20}))
        self.assertEqual(put(0, part, size=3 << 20)[0], 409)
        self.assertEqual(put(1 << 20, part)[0], 422, "the whole has another hash")
        self.assertEqual(self.ask("GET", f"/symbols/uploads/{sums}", key, None), (200, {"have_bytes": 0}))
        self.assertEqual(self.ask("GET", f"/symbols/uploads/{sums}", "mk_no", None)[0], 401)
        self.assertEqual(self.ask("POST", "/symbols/missing", key, b'{"files":[{"build_id":"0","kind":"debug"}]}')[0], 422)
        self.assertEqual(self.ask("POST", "/symbols/missing", key, b'{"files":')[0], 400)


if __name__ == "__main__":
    unittest.main(verbosity=2)
