#!/usr/bin/python3
"""`mire issues` on the contract's own examples over HTTP, and `mire key` on a real PostgreSQL."""

import http.server
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import urllib.parse
import unicodedata

SOURCE = pathlib.Path(os.environ.get("MIRE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
MIRE = pathlib.Path(os.environ.get("MIRE_BINARY_DIR", SOURCE / "build/release")) / "server/mire"
EXAMPLES = SOURCE / "schema/api/examples"


def mire(*words, **env):
    done = subprocess.run([MIRE, *words], capture_output=True, text=True, timeout=300, env=os.environ | env)
    return done.returncode, done.stdout, done.stderr


def width(text):
    """Columns of a terminal."""
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def helps():
    """Every command explains itself on stdout, without colours, and without a server."""
    listed = re.findall(r"^  (\w+) ", mire("--help")[1], re.M)
    assert {"run", "issues", "show", "symbols", "key"} <= set(listed), listed
    for command in listed:
        code, out, err = mire(command, "--help", MIRE_SERVER="http://127.0.0.1:9", NO_COLOR="1")
        assert code == 0 and err == "" and re.match(f"Usage: mire[ -]{command} ", out), (command, code, out, err)
        assert all(len(line) <= 120 for line in out.splitlines()) and "\x1b" not in out, out


class Server(http.server.BaseHTTPRequestHandler):
    answers = {"redis": (200, "listIssues"), "mapview": (200, "listIssues.memory"), "kiosk": (200, "listIssues.empty"), "nosuch": (404, "problem.no-such-issue")}

    def do_GET(self):
        self.server.asked.append(self.path)
        status, name = self.answers[self.path.split("/")[4]] if self.path != "/api/v1/apps" else (200, "listApps")
        self.send_response(status)
        self.end_headers()
        self.wfile.write((EXAMPLES / f"{name}.json").read_bytes())

    def log_message(self, *words):
        pass


def issues():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    code, out, err = mire("issues", "--server", url + "/", "--app", "redis", "--t", "24h")
    lines = out.splitlines()
    assert code == 0 and lines[0].split() == ["ISSUE", "CALLER1", "CALLER2", "WHY", "EVENTS", "DEVICES", "WORST"], (out, err)
    assert any(re.match(r"I-1 +keysCommand +processCommand +hang/cpu +\d+ +\d+ +\d+\.\d s$", x) for x in lines), out
    assert len({len(x) for x in lines}) == 1, "columns do not line up"
    assert server.asked[-1].startswith("/api/v1/apps/redis/issues?t=24h")
    code, out, _ = mire("issues", "--app", "redis", "--json", MIRE_SERVER=url)
    assert code == 0 and out.strip() == (EXAMPLES / "listIssues.json").read_text().strip()
    memory = mire("issues", "--app", "mapview", "--server", url)[1]
    assert re.search(r"^M-11 +TileCache::insert\(Key, Tile&&\) +.*foom/bytes: Malloc 48.00 KiB +\d+ +\d+ +\d+ MiB +\d+ MiB$", memory, re.M), memory
    assert mire("issues", "--app", "kiosk", "--server", url)[:2] == (0, "No issues in this range.\n")
    code, out, err = mire("issues", "--app", "nosuch", "--server", url)
    assert code == 1 and out == "" and "404" in err and "Not found" in err, err
    assert re.search(r"known apps: (\S+, )*redis(, \S+)*$", err.strip()), err
    for columns in (80, 100, 200):
        lines = mire("issues", "--app", "redis", "--server", url, COLUMNS=str(columns))[1].splitlines()
        assert len({width(x) for x in lines}) == 1 and width(lines[0]) <= columns, (columns, lines)
    code, _, err = mire("issues", "--app", "x", "--server", "http://127.0.0.1:9")
    assert code == 1 and "cannot reach" in err and "Is mired running" in err and "--server" in err, err
    server.shutdown()


def keys(conninfo):
    database = ["--database-url", conninfo]
    code, key, err = mire("key", "create", "my-app", "--label", "CI", *database)
    assert code == 0 and re.fullmatch(r"mk_[a-z2-7]{40}\n", key), (key, err)
    assert mire("key", "create", "my-app", "--scope", "symbols", *database)[0] == 0
    code, out, err = mire("key", "list", "my-app", *database)
    rows = [x.split() for x in out.splitlines()]
    assert code == 0 and len(rows) == 3 and rows[1][1] == key[:9] and rows[1][-1] == "CI", (out, err)
    assert key.strip() not in out and rows[1][3:7:2] == ["good", "-"] and rows[1][6] == "-", rows
    assert mire("key", "revoke", "my-app", rows[1][0], *database)[0] == 0
    assert mire("key", "list", "my-app", *database)[1].splitlines()[1].split()[3] == "revoked"
    assert mire("key", "revoke", "my-app", rows[1][0], *database)[0] == 1, "revoked twice"
    assert mire("key", "revoke", "other", rows[2][0], *database)[0] == 1, "revoked through another app"
    assert mire("key", "rotate", "my-app", rows[1][0], *database)[0] == 1, "a revoked key was rotated"
    code, new, err = mire("key", "rotate", "my-app", rows[2][0], "--days", "0", *database)
    assert code == 0 and re.fullmatch(r"mk_[a-z2-7]{40}\n", new), (new, err)
    listed = [x.split() for x in mire("key", "list", "my-app", *database)[1].splitlines()]
    assert [row[2:4] for row in listed[2:]] == [["symbols", "expired"], ["symbols", "good"]], listed
    for words in (["create"], ["create", "Bad App"], ["make", "x"], ["revoke", "my-app", "x"], ["create", "a", "--scope", "all"]):
        assert mire("key", *words, *database)[0] == 2, words
    code, _, err = mire("key", "list", "my-app", "--data-dir", "/nonexistent")
    assert code == 1 and "not running" in err, err


def keys_while_mired_starts():
    """As the README has it: mired in the background, and at once a key."""
    with tempfile.TemporaryDirectory(prefix="mire-cli-", dir="/tmp") as scratch:
        os.chmod(scratch, 0o755)
        data = os.path.join(scratch, "data")
        with open(os.path.join(scratch, "log"), "wb") as log:
            mired = subprocess.Popen([MIRE.parent / "mired", "serve", "--listen", "127.0.0.1:0", "--data-dir", data],
                                     stderr=log, env={k: v for k, v in os.environ.items() if k != "DATABASE_URL"})
        try:
            code, key, err = mire("key", "create", "my-app", "--data-dir", data)
            assert code == 0 and err == "" and re.fullmatch(r"mk_[a-z2-7]{40}\n", key), (code, key, err)
        finally:
            mired.terminate()
            mired.wait()


class BusyServer(http.server.BaseHTTPRequestHandler):
    """Lacks every file it is asked for, and answers 503 to the first part of one."""

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Retry-After", "1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(200, {"files": [{**file, "missing": True} for file in asked["files"]]})

    def do_GET(self):
        assert self.requestline.startswith("GET /api/"), self.requestline
        self.answer(200, {"have_bytes": self.server.have})

    def do_PUT(self):
        part = len(self.rfile.read(int(self.headers["Content-Length"])))
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        self.server.asked += 1
        if self.server.asked == 1:
            self.answer(503, {})
            return
        assert int(query["at"][0]) == self.server.have, query
        self.server.have += part
        self.answer(201 if self.server.have == int(query["size"][0]) else 202, {"have_bytes": self.server.have})

    def log_message(self, *words):
        pass


def what_is_wrong_is_said():
    """Not the usage alone; and a command answers by its whole name."""
    for words, code, said in (
            (("issues", "--bogus"), 2, "mire issues: unrecognized option '--bogus'"),
            (("symbols",), 2, "mire symbols: upload or look?"),
            (("symbols", "sned"), 2, "mire symbols: there is no 'sned': upload or look?"),
            (("symbols", "upload", "--key", "k"), 2, "mire symbols upload: which files? Say a PATH"),
            (("symbols", "upload", "/tmp"), 2, "mire symbols upload: which key? Say --key KEY"),
            (("symbols", "upload", "/tmp", "--key", "k", "--jobs", "0"), 2, "mire symbols upload: --jobs is 1 to 16"),
            (("symbols", "upload", "/tmp", "--bogus"), 2, "mire symbols upload: unrecognized option '--bogus'"),
            (("symbols", "look", "--bogus"), 2, "mire symbols look: unrecognized option '--bogus'"),
            (("show",), 2, "mire show: which report? Say FILE"),
            (("show", "--bogus"), 2, "mire show: unrecognized option '--bogus'"),
            (("show", "a", "b"), 2, "mire show: one report, please: there is 'b' too"),
            (("memory",), 2, "mire memory: which file? Say FILE"),
            (("issues", "lits"), 2, "mire issues: there is no 'lits': merge, split, unmerge, or options alone for the list"),
            (("issues", "merge", "I-1", "--app", "a", "--author", "b"), 2, "mire issues merge: into which? Say --into ISSUE"),
            (("issues", "split", "--bogus"), 2, "mire issues split: unrecognized option '--bogus'"),
            (("versions", "8.0"), 2, "mire versions: no word is taken, and '8.0' is one; `mire compare` compares two versions"),
            (("compare", "a", "b", "c", "--app", "x"), 2, "mire compare: at most two versions: the one to judge, and the one before"),
            (("compare", "a", "b", "--week", "--app", "x"), 2,
             "mire compare: --week compares two weeks: leave out --before and the second version"),
            (("key",), 2, "mire key: create, list, rotate or revoke?"),
            (("key", "maek", "a"), 2, "mire key: there is no 'maek': create, list, rotate or revoke?"),
            (("key", "revoke", "a"), 2, "mire key: it is 'mire key revoke APP KEY-NUMBER'"),
            (("rekey", "begin", "a"), 2, "mire rekey: there is no 'begin': preview, start, list or watch?"),
            (("rules", "chekc", "x"), 2, "mire rules: there is no 'chekc': check, packs, get, history, preview, put or back?"),
            (("rules", "packs", "x"), 2, "mire rules: it is 'mire rules packs'"),
            (("rollout", "shwo", "a"), 2, "mire rollout: there is no 'shwo': show, history, get, put, set, kill, revive, back or ramp?"),
            (("rollout", "back", "a"), 2, "mire rollout: it is 'mire rollout back APP VERSION'"),
            (("rollout", "set", "a"), 2, "mire rollout: it is 'mire rollout set APP PLUGIN=PERCENT...'"),
            (("rollout", "ramp", "a", "hang", "1", "--hold", "soon"), 2, "mire rollout: --hold is a number of hours"),
            (("show", "/nonexistent"), 1, "mire show: cannot read /nonexistent: No such file or directory"),
            (("memory", str(SOURCE / "README.md")), 1, f"mire memory: {SOURCE}/README.md: the format is not known ('mire import --formats' lists those that are)")):
        done, _, err = mire(*words)
        assert (done, err.splitlines()[0]) == (code, said), (words, done, err)
    code, out, err = mire("symbols", "upload", "--help")
    assert code == 0 and out.startswith("Usage: mire symbols upload") and not err, (code, err)


def symbols_wait_for_a_busy_server():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), BusyServer)
    server.asked = server.have = 0
    threading.Thread(target=server.serve_forever, daemon=True).start()
    code, out, err = mire("symbols", "upload", "--server", f"http://127.0.0.1:{server.server_port}/", "--key", "k", str(MIRE))
    assert code == 0 and out.startswith("stored ") and server.have == MIRE.stat().st_size, (code, out, err, server.asked)
    server.shutdown()


class Refusing(http.server.BaseHTTPRequestHandler):
    """Keeps the targets of requests as they came, and answers 404."""

    def refuse(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append(self.requestline.split()[1])  # self.path has one slash where two came
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST = do_PUT = do_DELETE = refuse

    def log_message(self, *words):
        pass


def a_slash_at_the_end_of_an_address_is_no_part_of_paths():
    commands = (["apps"], ["issues", "--app", "a"], ["issue", "I-1"], ["issues", "merge", "I-1", "--into", "I-2", "--app", "a", "--reason", "x", "--author", "kim"],
                ["reports", "--app", "a"], ["versions", "--app", "a"], ["compare", "1", "2", "--app", "a"], ["flame", "I-1", "--app", "a"],
                ["rates", "--app", "a"], ["import", str(SOURCE / "schema/wire/vectors/valid/samples-at-one-instant/report.json")],
                ["symbols", "upload", str(MIRE)], ["release", "list", "a"], ["alerts", "list", "a"], ["rollout", "show", "a"],
                ["rules", "get", "a"], ["rekey", "list", "a"], ["forget", "list", "a"], ["login", "--name", "kim"])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for words in commands:
        server.asked = []
        done = subprocess.run([MIRE, *words], input="secret\n", capture_output=True, text=True, timeout=300,
                              env=os.environ | {"MIRE_SERVER": f"http://127.0.0.1:{server.server_port}//", "MIRE_KEY": "k"})
        assert server.asked and all(re.match("/(api/v1/|i/)", path) for path in server.asked), (words, server.asked, done)
    server.shutdown()


def main():
    helps()
    keys_while_mired_starts()
    what_is_wrong_is_said()
    symbols_wait_for_a_busy_server()
    a_slash_at_the_end_of_an_address_is_no_part_of_paths()
    issues()
    probe = subprocess.Popen([MIRE.parent.parent / "tests/integration/api_probe", "0", "/nonexistent"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
    try:
        keys(probe.stdout.readline().decode().strip())
    finally:
        probe.stdin.close()
        probe.wait()
    with tempfile.TemporaryDirectory() as empty:
        code = mire("run", "--help", PATH=empty)[0]
        assert code in (0, 1)


if __name__ == "__main__":
    main()
