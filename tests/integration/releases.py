#!/usr/bin/python3
"""Marks of releases, the address of the source, and suspect commits: a real mired, `mire release`, and the log of a real git."""

import pathlib
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from answers import answer_of  # noqa: E402
from mired import MIRE, Mired, report_id, scratch, until  # noqa: E402

APP = "/api/v1/apps/shop"


def report(version, function, file):
    """A hang in `function` of `file`, below main of src/main.py and above a library."""
    return {
        "mire": 1, "id": report_id(), "kind": "event", "app": {"name": "a", "version": version},
        "device": {"install": "0" * 32, "os": "linux", "arch": "x86_64"}, "process": {"pid": 1, "name": "a"},
        "images": [{"name": "python", "load": 0, "script": "python"}],
        "script": {"texts": [function, file, "main", "/ci/shop/src/main.py"], "function": [0, 2], "file": [1, 3], "line": [7, 90]},
        "frames": {"image": [0, 0], "offset": [0, 1], "found": [5, 5]}, "nodes": {"up": [1, 1], "frame": [1, 0]},
        "event": {"begin_ns": 0, "duration_ms": 3000, "threshold_ms": 2000, "open": False,
                  "samples": {"at_ms": [2000], "weight_ms": [1000], "node": [2]}},
    }


class ReleasesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = scratch("releases")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.mired = Mired(cls.folder)
        cls.addClassCleanup(cls.mired.stop)
        cls.ingest, cls.read = cls.mired.key("shop", "ingest"), cls.mired.key("shop", "read")
        cls.symbols, cls.admin = cls.mired.key("shop", "symbols"), cls.mired.key("shop", "admin")
        cls.login = {"MIRE_KEY": cls.symbols}

    def get(self, path, name):
        status, _, body = self.mired.ask("GET", APP + path, self.read)
        self.assertEqual(status, 200, body)
        return answer_of(body, name)

    def post(self, path, body, key=None):
        return self.mired.ask("POST", APP + path, key or self.symbols, body, Content_Type="application/json")[0]

    def send(self, *reports):
        before = self.get("/overview", "getOverview")["totals"]["reports"]
        for body in reports:
            self.assertEqual(self.mired.ask("POST", "/api/v1/reports", self.ingest, body)[0], 202)
        until("all are counted", lambda: self.get("/overview", "getOverview")["totals"]["reports"] == before + len(reports))
        return {one["caller1"]: one for group in self.get("/issues", "listIssues")["groups"] for one in group["issues"]}

    def test_a_mark_is_made_once_and_replaced(self):
        self.mired.mire("release", "create", "shop", "1.0", "--commit", "1a2b3c4d", "--at", "2026-11-01T14:30:05Z", **self.login)
        self.mired.mire("release", "create", "shop", "1.0", "--environment", "staging", **self.login)
        self.mired.mire("release", "create", "shop", "1.0", "--commit", "9f8e7d6c", "--at", "2026-11-02", **self.login)
        marks = {one["environment"]: one for one in self.get("/releases", "getReleases")["releases"] if one["version"] == "1.0"}
        self.assertEqual(set(marks), {"production", "staging"})
        self.assertEqual((marks["production"]["commit"], marks["production"]["released_at"]), ("9f8e7d6c", "2026-11-02T00:00:00.000Z"))
        self.assertEqual(marks["staging"]["commit"], "")
        self.assertRegex(self.mired.mire("release", "list", "shop", **self.login), r"2026-11-02T00:00  1\.0 +production +9f8e7d6c +0 commits\n")
        table = self.mired.ask("GET", APP + "/releases?format=csv", self.read)[2].decode()
        self.assertIn('"1.0","production","9f8e7d6c","2026-11-02T00:00:00.000Z"', table)

    def test_what_is_wrong_and_who_may_not(self):
        for body in ({}, {"version": ""}, {"version": "1", "commit": "xyz"}, {"version": "1", "commit": "1A2B3C4D"}, {"version": "1", "environment": ""},
                     {"version": "1", "released_at": "yesterday"}, {"version": "x" * 201}):
            self.assertEqual(self.post("/releases", body), 422, body)
        good = {"commit": "1a2b3c4", "author": "a", "subject": "s", "committed_at": "2026-11-01", "files": ["a.c"]}
        for wrong in ({"commit": "1"}, {"files": ["a\nb"]}, {"files": [""]}, {"files": "a"}, {"committed_at": ""}, {"author": 1}):
            self.assertEqual(self.post("/releases/commits", {"version": "1", "commits": [good | wrong]}), 422, wrong)
        self.assertEqual(self.post("/releases/commits", {"version": "1", "commits": [good] * 2001}), 422)
        for key, status in ((self.read, 401), (self.ingest, 401), (self.symbols, 200), (self.admin, 200)):
            self.assertEqual(self.post("/releases", {"version": "0.1"}, key), status)
            self.assertEqual(self.post("/releases/commits", {"version": "0.1", "commits": [good]}, key), status)
        self.mired.mire("release", "create", "shop", "1", code=1, MIRE_KEY=self.read)
        self.mired.mire("release", "commits", "shop", "1", "/nowhere", code=1, **self.login)
        self.mired.mire("release", "create", "shop", code=2, **self.login)

    def test_the_link_to_the_source_is_a_setting(self):
        settings = lambda body: self.mired.ask("PUT", APP + "/settings", self.admin, {"name": "Shop", "retention_days": None} | body)[0]
        link = "https://git.example/shop/blob/{commit}/{file}#L{line}"
        self.assertEqual(settings({"source_link": link, "source_root": "/ci/shop/"}), 200)
        found = self.get("/releases", "getReleases")
        self.assertEqual((found["source_link"], found["source_root"]), (link, "/ci/shop/"))
        for wrong in ("javascript:alert(1)//{file}", "https://git.example/", "https://git.example/{file} x", "{file}"):
            self.assertEqual(settings({"source_link": wrong}), 422, wrong)
        form = "https://git.example/shop/issues/new?title={title}&body={body}"
        self.assertEqual(settings({"ticket_link": form}), 200)
        for wrong in ("https://git.example/new", "data:{title}", "https://git.example/{title}\n"):
            self.assertEqual(settings({"ticket_link": wrong}), 422, wrong)
        self.assertEqual(settings({}), 200)
        self.assertEqual(self.get("/releases", "getReleases")["ticket_link"], form)
        self.assertEqual(self.get("/releases", "getReleases")["source_link"], link, "absent: unchanged")
        self.assertEqual(settings({"source_link": "", "source_root": "", "ticket_link": ""}), 200)

    @unittest.skipUnless(shutil.which("git"), "git is not installed")
    def test_the_commits_of_a_git_log_that_touched_the_stack(self):
        repository = self.folder / "repository"

        def git(*words):
            who = ["-c", "user.name=Kim Å", "-c", "user.email=kim@shop.example", "-c", "commit.gpgsign=false"]
            return subprocess.run(["git", *who, "-C", repository, *words], check=True, capture_output=True, text=True).stdout

        def commit(subject, *files):
            for file in files:
                path = repository / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(path.read_text() + "x\n" if path.exists() else "x\n")
            git("add", "-A")
            git("commit", "-q", "-m", subject)

        repository.mkdir()
        git("init", "-q")
        commit("old: the cart", "src/cart.py")
        git("tag", "v1")
        commit("main: a window", "src/main.py")
        commit("cart: sync while the lock is held", "src/cart.py", "src/ä b.py")
        commit("other: a cart of its own", "lib/cart.py", "README.md")
        issues = self.send(report("2.0", "acquire", "/ci/shop/src/cart.py"), report("2.0", "elsewhere", "/ci/shop/src/quiet.py"))
        suspects = lambda issue, more="": self.get(f"/issues/{issues[issue]['id']}/suspects{more}", "getSuspects")
        self.assertEqual((suspects("acquire")["commits"], suspects("acquire")["suspects"]), (0, []))
        for form in (["--name-only"], ["--name-status", "--date=iso-strict"], ["--name-only", "--format=fuller"]):
            log = self.folder / "log"
            log.write_text(git("log", *form, "v1..HEAD"))
            self.assertEqual(self.mired.mire("release", "commits", "shop", "2.0", log, **self.login), "3 commits, 5 changed files\n")
            found = suspects("acquire")
            self.assertEqual((found["version"], found["commits"]), ("2.0", 3))
            told = [(one["subject"], one["file"], one["function"], one["author"]) for one in found["suspects"]]
            self.assertEqual(told, [("cart: sync while the lock is held", "src/cart.py", "acquire", "Kim Å"),
                                    ("main: a window", "src/main.py", "main", "Kim Å")])
        self.assertEqual([one["file"] for one in suspects("elsewhere")["suspects"]], ["src/main.py"])
        self.assertEqual(suspects("acquire", "?v=1.0")["suspects"], [], "of another version none is known")
        one_line = self.folder / "one-line"
        one_line.write_text(git("log", "--oneline", "v1..HEAD"))
        self.assertIn("give it the output of git log --name-only", self.mired.mire("release", "commits", "shop", "2.0", one_line, code=1, **self.login))
        without = self.folder / "without"
        without.write_text(git("log", "v1..HEAD"))
        self.assertIn("no commit names a file", self.mired.mire("release", "commits", "shop", "2.0", without, code=1, **self.login))
        piped = subprocess.run([MIRE, "release", "commits", "shop", "3.0"], input=git("log", "--name-only"), capture_output=True, text=True,
                               env={"MIRE_SERVER": self.mired.url, "MIRE_KEY": self.symbols}, timeout=300)
        self.assertEqual((piped.returncode, piped.stdout), (0, "4 commits, 6 changed files\n"), piped.stderr)


if __name__ == "__main__":
    unittest.main()
