#!/usr/bin/python3
"""Real Sentry SDKs with a DSN of Mire: their events become issues, with context; and the endpoints' answers."""

import gzip
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.parse
import zlib

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from mired import SOURCE, Mired, scratch, until  # noqa: E402

SDK = SOURCE / "build/sentry"


def fetch():
    done = subprocess.run([SOURCE / "tests/sentry/fetch.sh"], capture_output=True, text=True, timeout=600)
    if done.returncode == 77:
        print(done.stdout)
    return done.returncode == 0


def run_python(dsn, algorithm):
    env = os.environ | {"PYTHONPATH": str(SDK / "python")}
    done = subprocess.run(["/usr/bin/python3", SOURCE / "tests/sentry/app.py", dsn, algorithm], env=env,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and "KeyError" in done.stderr, done


def run_node(dsn, size):
    node = SOURCE / "build/node/bin/node"
    (SDK / "node/app.mjs").write_text((SOURCE / "tests/sentry/app.mjs").read_text())
    done = subprocess.run([node if node.exists() else "node", SDK / "node/app.mjs", dsn, size], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done


def counts(mired):
    return {issue["caller1"]: issue["totals"]["reports"] for issue in mired.issues("shop")}


def event(number, name):
    frame = {"function": name, "filename": "cart.py", "lineno": 7, "in_app": True}
    return {"event_id": f"{number:032x}", "timestamp": time.time(), "platform": "python", "level": "error",
            "release": "shop@1", "exception": {"values": [{"type": "KeyError", "value": "'total'",
                                                           "stacktrace": {"frames": [frame]}}]}}


def envelope(number, name, *more):
    items = [({"type": "event"}, json.dumps(event(number, name)).encode()), *more]
    lines = [json.dumps({"event_id": f"{number:032x}"}).encode()]
    for header, body in items:
        lines += [json.dumps(header | {"length": len(body)}).encode(), body]
    return b"\n".join(lines)


def check_endpoints(mired, key, project):
    path, sent = f"/api/{project}/envelope/", envelope(1, "by_hand")
    auth = {"X_Sentry_Auth": f"Sentry sentry_version=7, sentry_client=test/1, sentry_key={key}"}

    def post(path, body, **headers):
        return mired.ask("POST", path, None, body, **headers)

    def deflated(body):
        return zlib.compress(body)

    attachment = ({"type": "attachment", "filename": "a"}, b"hello\n")
    for encoding, change in (("identity", bytes), ("gzip", gzip.compress), ("deflate", deflated)):
        status, headers, body = post(path, change(sent), Content_Encoding=encoding, **auth)
        assert status == 200 and json.loads(body) == {"id": f"{1:032x}"}, (encoding, status, body)
    limits = headers["X-Sentry-Rate-Limits"]
    assert "transaction" in limits and "error" not in limits, limits
    assert post(path, envelope(2, "by_hand", attachment), **auth)[0] == 200
    assert post(path + "?" + urllib.parse.urlencode({"sentry_key": key}), envelope(3, "by_query"))[0] == 200
    status, _, body = post(f"/api/{project}/store/", json.dumps(event(4, "by_store")).encode(), **auth)
    assert status == 200 and json.loads(body) == {"id": f"{4:032x}"}, body
    status, _, body = post(path, b'{}\n{"type":"session","length":2}\n{}\n', **auth)
    assert status == 200 and json.loads(body) == {}, body
    assert post(path, sent)[0] == 401
    assert post(path, sent, X_Sentry_Auth=auth["X_Sentry_Auth"][:-1] + "0")[0] == 401
    assert post(f"/api/{int(project) + 1}/envelope/", sent, **auth)[0] == 401
    status, _, body = post(path, sent[:-40], **auth)
    assert status == 400 and json.loads(body)["position"] > 0, body
    assert post(path, b"\x1f\x8b nothing", Content_Encoding="gzip", **auth)[0] == 400
    assert post(path, sent, Content_Encoding="compress", **auth)[0] == 415
    until("each is counted once", lambda: counts(mired).get("by_hand") == 2 and counts(mired).get("by_query") == 1 and
          counts(mired).get("by_store") == 1)


def check_context(mired, caller1):
    issue = next(issue for issue in mired.issues("shop") if issue["caller1"] == caller1)
    facts = mired.get(f"/apps/shop/issues/{issue['id']}/reports/latest")["facts"]
    told = {fact["name"]: fact["value"] for fact in facts}
    assert told["tag plan"] == "trial" and len(told["user, hashed"]) == 32, told
    assert "4711" not in json.dumps(facts) and "kim@" not in json.dumps(facts), facts
    return [(name, value) for name, value in told.items() if name.startswith("breadcrumb")]


def main():
    with scratch("sentry") as name:
        mired = Mired(pathlib.Path(name))
        try:
            dsn = mired.mire("key", "create", "shop", "--dsn", "--server", mired.url, "--data-dir", mired.data).strip()
            parts = urllib.parse.urlsplit(dsn)
            check_endpoints(mired, parts.username, parts.path[1:])
            if not fetch():
                sys.exit(77)
            for algorithm in ("gzip", "br"):
                run_python(dsn, algorithm)
            for size in ("small", "large"):
                run_node(dsn, size)
            until("events of both SDKs are issues",
                  lambda: counts(mired).get("total_of_the_cart") == 2 and counts(mired).get("drawTheFeed") == 2)
            crumbs = check_context(mired, "total_of_the_cart")
            assert any("checkout by" in value for _, value in crumbs), crumbs
            check_context(mired, "drawTheFeed")
        finally:
            mired.stop()


main()
