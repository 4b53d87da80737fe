#!/usr/bin/python3
"""What every answer of a running mired carries, and that nothing outside web_dir is served, byte for byte over a socket."""

import gzip
import json
import pathlib
import socket
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from mired import Mired, scratch  # noqa: E402

POLICY = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
                               "font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
                               "require-trusted-types-for 'script'; trusted-types 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
SCRIPT = b"console.log(1)\n" * 100


class Answer:
    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        self.status = int(first.split()[1])
        names = [line.split(": ", 1)[0].lower() for line in lines]
        assert len(names) == len(set(names)), f"a header is there twice: {names}"
        self.headers = {line.split(": ", 1)[0].lower(): line.split(": ", 1)[1] for line in lines}


def ask(port, method, target, *headers, body=b""):
    with socket.create_connection(("127.0.0.1", port), timeout=300) as s:
        lines = [f"{method} {target} HTTP/1.1", "Host: localhost", "Connection: close", *headers]
        s.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        raw = b""
        while (piece := s.recv(65536)):
            raw += piece
    answer = Answer(raw)
    for name, value in POLICY.items():
        assert answer.headers.get(name) == value, (method, target, answer.status, name, answer.headers)
    assert "x-request-id" in answer.headers, (method, target)
    assert "server" not in answer.headers
    return answer


def every_answer_carries_the_policy(port):
    json_answers = [("GET", "/healthz", 200), ("GET", "/api/v1/apps", 200), ("GET", "/api/v1/none", 404), ("GET", "/api", 404),
                    ("GET", "/api/v1/apps/none/overview", 404), ("GET", "/api/v1/apps?x=1", 400), ("DELETE", "/api/v1/apps", 405),
                    ("BREW", "/", 405), ("GET", "/i/I-1", 404), ("POST", "/api/v1/reports", 411)]
    for method, target, status in json_answers:
        got = ask(port, method, target)
        kind = "application/json" if status == 200 else "application/problem+json"
        assert (got.status, got.headers["content-type"]) == (status, kind), (method, target, got.status, got.headers)
        if status != 200:
            problem = json.loads(got.body)
            assert problem["status"] == status and problem["request_id"] == got.headers["x-request-id"], problem
    assert ask(port, "GET", "/metrics").headers["content-type"].startswith("text/plain")
    assert ask(port, "POST", "/api/v1/reports", "Content-Length: 2", body=b"{}").status == 401
    assert ask(port, "POST", "/api/v1/reports", "Content-Length: 99999999999").status == 413
    assert ask(port, "GET", "/" + "x" * 9000).status == 414


def head_is_get_without_a_body(port):
    for target in ("/", "/assets/app-1a2b.js", "/api/v1/apps", "/healthz", "/api/v1/none", "/none.txt"):
        get, head = ask(port, "GET", target), ask(port, "HEAD", target)
        assert head.status == get.status and head.body == b"", target
        for name in ("content-type", "content-length", "cache-control", "etag"):
            assert head.headers.get(name) == get.headers.get(name), (target, name, head.headers, get.headers)


def what_the_client_has_is_not_sent_again(port):
    for target in ("/", "/assets/app-1a2b.js", "/api/v1/apps"):
        first = ask(port, "GET", target)
        tag = first.headers["etag"]
        for sent in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = ask(port, "GET", target, f"If-None-Match: {sent}")
            assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag), (target, sent, again.status)
        assert again.headers["cache-control"] == first.headers["cache-control"]
        assert ask(port, "GET", target, 'If-None-Match: "other"').status == 200


def files_go_out_whole_and_in_the_best_form(port):
    for accepted, coding, body in (("br, gzip", "br", b"B"), ("gzip", "gzip", b"G"), ("br;q=0", None, SCRIPT), (None, None, SCRIPT)):
        got = ask(port, "GET", "/assets/app-1a2b.js", *([f"Accept-Encoding: {accepted}"] if accepted else []))
        assert (got.status, got.headers.get("content-encoding"), got.body) == (200, coding, body), (accepted, got.headers)
        assert got.headers["vary"] == "Accept-Encoding" and got.headers["cache-control"].endswith("immutable")
        assert got.headers["content-type"] == "text/javascript; charset=utf-8"
    part = ask(port, "GET", "/assets/app-1a2b.js", "Range: bytes=0-4")
    assert (part.status, part.body) == (200, SCRIPT) and "content-range" not in part.headers
    assert ask(port, "GET", "/redis/issues/I-1").body == b"<!doctype html>page"
    assert ask(port, "GET", "/assets/none.js").headers["content-type"] == "application/problem+json"


def long_answers_go_out_compressed(port):
    plain = ask(port, "GET", "/api/v1/apps/shop/rules")
    assert len(plain.body) > 1400 and "content-encoding" not in plain.headers and plain.headers["vary"] == "Accept-Encoding", plain.headers
    for accepted in ("gzip", "br, gzip;q=0.5", "GZIP"):
        got = ask(port, "GET", "/api/v1/apps/shop/rules", f"Accept-Encoding: {accepted}")
        assert got.headers["content-encoding"] == "gzip" and int(got.headers["content-length"]) == len(got.body) < len(plain.body) / 2
        assert json.loads(gzip.decompress(got.body)).keys() == json.loads(plain.body).keys()
        tag = got.headers["etag"]
        assert tag.startswith('W/"'), tag
        assert ask(port, "GET", "/api/v1/apps/shop/rules", f"Accept-Encoding: {accepted}", f"If-None-Match: {tag}").status in (200, 304)
    for accepted in ("br", "gzip;q=0", "gzip;q=0.000", "identity"):
        assert "content-encoding" not in ask(port, "GET", "/api/v1/apps/shop/rules", f"Accept-Encoding: {accepted}").headers, accepted
    assert "content-encoding" not in ask(port, "GET", "/api/v1/apps", "Accept-Encoding: gzip").headers, "a short one"


def nothing_outside_is_served(port):
    climbs = ["/../secret.txt", "/assets/../../secret.txt", "/%2e%2e/secret.txt", "/assets/%2e%2e/%2e%2e/secret.txt",
              "/assets/..%2f..%2fsecret.txt", "/%2e%2e%2fsecret.txt", "/assets/.%2e/.%2e/secret.txt", "/..%5csecret.txt",
              "/assets/%252e%252e/secret.txt", "/assets//../secret.txt", "//secret.txt", "/assets/%00", "/secret.txt%00.js",
              "/.hidden", "/assets/.hidden", "/%2ehidden", "/assets/%2ehidden", "/assets/", "/assets/sub",
              "/%zz", "/..;/secret.txt"]
    for target in climbs:
        for method in ("GET", "HEAD"):
            got = ask(port, method, target)
            assert b"TOP-SECRET" not in got.body, (target, got.body)
            assert got.status in (400, 404) or got.body in (b"", b"<!doctype html>page"), (target, got.status, got.body)


def lay_out(scratch):
    web = scratch / "web"
    (web / "assets/sub").mkdir(parents=True)
    (web / "index.html").write_text("<!doctype html>page")
    (web / "assets/app-1a2b.js").write_bytes(SCRIPT)
    (web / "assets/app-1a2b.js.br").write_bytes(b"B")
    (web / "assets/app-1a2b.js.gz").write_bytes(b"G")
    (web / ".hidden").write_text("TOP-SECRET")
    (web / "assets/.hidden").write_text("TOP-SECRET")
    (scratch / "secret.txt").write_text("TOP-SECRET")
    return web


def main():
    with scratch("headers") as name:
        folder = pathlib.Path(name)
        mired = Mired(folder, f"--web-dir={lay_out(folder)}")
        try:
            mired.key("shop", "ingest")
            for check in (every_answer_carries_the_policy, head_is_get_without_a_body, what_the_client_has_is_not_sent_again,
                          files_go_out_whole_and_in_the_best_form, long_answers_go_out_compressed,
                          nothing_outside_is_served):
                check(mired.port)
        finally:
            mired.stop()


if __name__ == "__main__":
    main()
