#!/usr/bin/python3
"""What a report, a user or a server says cannot drive the terminal it is printed on: no colours, no cursor, no line of its own."""

import copy
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading

SOURCE = pathlib.Path(os.environ.get("MIRE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
MIRE = pathlib.Path(os.environ.get("MIRE_BINARY_DIR", SOURCE / "build/release")) / "server/mire"
VECTORS = SOURCE / "schema/wire/vectors/valid"
EXAMPLES = SOURCE / "schema/api/examples"

HOSTILE = "\x1b]0;t\x07\x9b2J\u202e\rX\nforged"
HARMLESS = "?]0;t??2J??X?forged"


def mire(*words, **more):
    done = subprocess.run([MIRE, *words], capture_output=True, timeout=300, env=os.environ | {"COLUMNS": "400"}, **more)
    return done.returncode, done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")


def is_tame(said):
    return not any(c in said for c in "\x1b\x07\x9b\u202e\r") and not any(x.startswith("forged") for x in said.splitlines())


def strings(node, path=()):
    """The path of every string of a document."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        if isinstance(value, str):
            yield (*path, key)
        else:
            yield from strings(value, (*path, key))


def spoiled(document, path):
    document = copy.deepcopy(document)
    node = document
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] += HOSTILE
    return document


def reports():
    """Each string of a report, one after the other; those that may not say that are refused, as tamely."""
    shown = 0
    for vector, command in (("every-field", "show"), ("frames-of-java", "show"), ("memory-every-field", "show"),
                            ("memory-every-field", "memory"), ("memory-sampled-and-degraded", "memory")):
        report = json.loads((VECTORS / vector / "report.json").read_text())
        for path in strings(report):
            code, said = mire(command, "-", input=json.dumps(spoiled(report, path)).encode())
            assert code in (0, 1) and is_tame(said), (vector, command, path, said)
            shown += code == 0 and HARMLESS in said
    assert shown >= 30, f"only {shown} names came through"


class Server(http.server.BaseHTTPRequestHandler):
    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.dumps(self.server.document).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *words):
        pass


CALLS = (("listIssues", 200, "issues --app a"), ("listIssues.memory", 200, "issues --app a"), ("listApps", 404, "issues --app a"),
         ("problem.no-such-issue", 404, "issues --app a"), ("mergeIssues", 200, "issues merge I-1 --into I-2 --app a --author b"),
         ("getRollout", 200, "rollout show a"), ("getRollout", 200, "rollout history a"), ("getRules", 200, "rules history a"),
         ("getRekey", 200, "rekey list a"), ("getForget", 200, "forget list a"), ("getRulesJob", 200, "rules preview a /dev/null --key k"))


def answers():
    """Each string of a server's answer."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    for example, server.status, call in CALLS:
        document = json.loads((EXAMPLES / f"{example}.json").read_text())
        shown = 0
        for path in strings(document):
            if path[-1] == "state":  # a job that never ends is waited for
                continue
            server.document = spoiled(document, path)
            code, said = mire(*call.split(), "--server", url)
            assert code in (0, 1) and is_tame(said), (call, path, said)
            shown += "forged" in said
        assert shown or example == "listApps", f"mire {call}: nothing of {example} came through"
    server.shutdown()


def arguments():
    for words in (["show"], ["memory"], ["symbols", "look"], ["rules", "check"], ["rollout"], ["key"], ["issues"], []):
        code, said = mire(*words, "x" + HOSTILE)
        assert code in (1, 2) and "forged" in said and is_tame(said), (words, code, said)


if __name__ == "__main__":
    reports()
    answers()
    arguments()
    sys.exit(0)
