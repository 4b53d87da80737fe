"""Programs that hang without names, and the ways by which their debug files come to a mired."""

import http.server
import json
import os
import pathlib
import struct
import subprocess
import threading
import unittest

from mired import MIRE, Mired, scratch, until

PROGRAM = """
#include <poll.h>
#include <string.h>
#include <time.h>
static volatile unsigned long sink;
static char rows[1 << 20];
__attribute__((noinline)) static void paint_rows(void)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        memset(rows, (int)++sink, sizeof rows); /* nearly all samples have one address of the program's */
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 2500);
}
__attribute__((noinline)) static void on_click(void)
{
    paint_rows();
    sink++;
}
int main(void)
{
    for (int i = 0; i < 10; i++)
        poll(0, 0, 50);
    on_click();
    poll(0, 0, 300);
    return MARK;
}
"""
INLINED = PROGRAM.replace("__attribute__((noinline)) static void paint_rows",
                          "static inline __attribute__((always_inline)) void paint_rows")


class Debuginfod(http.server.BaseHTTPRequestHandler):
    files = {}
    asked = []
    held = {}  # path: an event that its answer waits for

    def do_GET(self):
        self.asked.append(self.path)
        if self.path in self.held:
            self.held[self.path].wait(300)
        body = self.files.get(self.path)
        self.send_response(404 if body is None else 200)
        self.end_headers()
        self.wfile.write(body or b"no such file")

    def log_message(self, *_):
        pass


class Programs(unittest.TestCase):
    """With cls.mired, and cls.folder of one's own."""

    @property
    def url(self):
        return self.mired.url

    def mire(self, *words, **more):
        return self.mired.mire(*words, **more)

    def key(self, app, scope):
        return self.mired.key(app, scope)

    def get(self, path):
        return self.mired.get(path)

    def program(self, name, mark, ballast=0, source=PROGRAM, flags=()):
        """A program in two files: stripped, and its debug file; no two tests have the same."""
        folder = self.folder / name
        folder.mkdir()
        text, whole, app, debug = (folder / part for part in ("app.c", "whole", name, "app.debug"))
        text.write_bytes(source.replace("MARK", str(mark)).encode("utf-8", "surrogateescape"))
        subprocess.run(["gcc", "-g", "-O1", "-fno-optimize-sibling-calls", "-Wl,--build-id", *flags, "-o", whole, text], check=True)
        subprocess.run(["objcopy", "--only-keep-debug", whole, debug], check=True)
        if ballast:  # what does not shrink when it is compressed
            (folder / "ballast").write_bytes(os.urandom(ballast))
            subprocess.run(["objcopy", "--add-section", f".debug_ballast={folder / 'ballast'}", debug], check=True)
        subprocess.run(["objcopy", "--strip-all", whole, app], check=True)
        return app, debug, self.build_id(app)

    @staticmethod
    def build_id(app):
        """By the bytes of its section: readelf shows no id whose length is no multiple of four."""
        note = app.with_suffix(".note")
        subprocess.run(["objcopy", "-O", "binary", "-j", ".note.gnu.build-id", app, note], check=True)
        size, = struct.unpack_from("<I", note.read_bytes(), 4)
        return note.read_bytes()[16:16 + size].hex()

    def hang(self, app, caller1=None):
        """Run it under `mire run`; the issue of its hang, which names an address unless `caller1` is told."""
        name = app.name
        env = os.environ | {"MIRE_SERVER": self.url, "MIRE_KEY": self.key(name, "ingest"), "MIRE_STORE": str(app.parent / "store")}
        subprocess.run([MIRE.parent / "mire", "run", "--app", name, "--threshold", "1000", "--", app], env=env, timeout=300)
        issue = until("the hang is told", lambda: self.issues(name))[0]
        self.assertRegex(issue["caller1"], rf"^{caller1}$" if caller1 else rf"^{name}\+0x[0-9a-f]+$")
        return issue

    def issues(self, app):
        return [one for one in self.mired.issues(app) if one["category"] == "hang"]


class Late(Programs):
    """Programs whose debug files come later: to one mired with a debuginfod server and a directory."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = scratch("late")
        cls.folder = folder = pathlib.Path(cls.scratch.name)
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Debuginfod)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        (folder / "dirs").mkdir()
        cls.mired = Mired(folder, f"--debuginfod=http://127.0.0.1:9/none http://127.0.0.1:{cls.server.server_port}",
                          f"--symbol-dirs={folder / 'dirs'}")

    @classmethod
    def tearDownClass(cls):
        cls.mired.stop()
        cls.server.shutdown()
        cls.scratch.cleanup()

    def ask(self, method, path, key, body):
        status, _, answer = self.mired.ask(method, "/api/v1" + path, key, body)
        return status, json.loads(answer)

    def becomes_named(self, app, before):
        """The same issue, by its number, with names; first seen as before."""
        def named():
            now = self.issues(app)
            return len(now) == 1 and now[0]["caller1"] == "paint_rows" and now[0]
        now = until("the issue has names", named)
        self.assertEqual((now["id"], now["first_seen_at"], now["state"]), (before["id"], before["first_seen_at"], before["state"]))
        self.assertEqual(now["caller2"], "on_click")
        report = self.get(f"/apps/{app}/issues/{now['id']}/reports")["reports"][0]["id"]
        self.assertIn("app.c", json.dumps(self.get(f"/apps/{app}/issues/{now['id']}/reports/{report}")))
        self.assertEqual(self.get(f"/apps/{app}/issues/{now['id']}")["issue"]["caller1"], "paint_rows")
        until("the job ends", lambda: all(job["state"] == "done" for job in self.get(f"/apps/{app}/rekey")["jobs"]))

    def inlined_call_is_to_blame(self, app, issue):
        """The report moves to an issue of the inlined function; the emptied one leads there once the job has ended."""
        until("the inlined call is to blame", lambda: [one for one in self.issues(app) if one["caller1"] == "paint_rows"])
        until("the old number leads there", lambda: self.get(f"/apps/{app}/issues/{issue['id']}")["issue"]["caller1"] == "paint_rows")

    def looks(self, app, build):
        return next((one["looks"] for one in self.get(f"/apps/{app}/symbols")["missing"] if one["build_id"] == build and one["answer"]), 0)
