#!/usr/bin/python3
"""`mire import` against a real server: files, folders, archives, twice, and what is broken; the same over HTTP."""

import gzip
import io
import json
import pathlib
import sys
import tarfile
import zipfile
import zlib

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import hprof  # noqa: E402
from mired import Mired, scratch, until  # noqa: E402


def crash(number, function):
    image = {"image_addr": 4294967296, "image_vmaddr": 4294967296, "image_size": 65536, "name": "/var/A/Shop.app/Shop",
             "uuid": "0A1B2C3D-0000-4000-8000-000000000001"}
    frame = {"instruction_addr": 4294968000, "object_addr": 4294967296, "symbol_addr": 4294967900, "symbol_name": function}
    return {"report": {"id": f"63784EB4-5ACC-4B59-B987-{number:012X}", "timestamp": 1760000000 + number, "version": "3.7.0"},
            "binary_images": [image],
            "system": {"system_name": "iOS", "CFBundleIdentifier": "org.example.shop", "CFBundleShortVersionString": "4.2",
                       "CFBundleExecutablePath": "/var/A/Shop.app/Shop", "device_app_hash": f"{number:02x}"},
            "crash": {"error": {"type": "signal", "signal": {"signal": 11, "name": "SIGSEGV"}},
                      "threads": [{"index": 0, "crashed": True, "backtrace": {"contents": [frame]}}]}}


def issues(mired):
    """Reports, devices and what the issues are called."""
    _, _, body = mired.ask("GET", "/api/v1/apps/shop/issues?t=24h")
    found = json.loads(body)
    titles = {issue["caller1"] for group in found["groups"] for issue in group["issues"] if issue["category"] == "crash"}
    return found["totals"]["reports"], found["totals"]["devices"], titles


def by_media_type(mired, key):
    """POST /api/v1/reports with the media type of a format: the answers, and the place in what is refused."""
    kind = "application/vnd.kscrash+json"

    def post(body, encoding="identity", media=kind):
        status, _, answer = mired.ask("POST", "/api/v1/reports", key, body, Content_Type=media, Content_Encoding=encoding)
        return status, json.loads(answer)

    many = json.dumps([crash(7, "-[Cart total]"), crash(8, "-[Feed draw]")]).encode()
    status, first = post(zlib.compress(many), "deflate")
    assert status == 202 and len(first["report_ids"]) == 2, (status, first)
    assert post(gzip.compress(many), "gzip", kind + "; charset=utf-8") == (202, first)
    status, answer = post(many[:-40])
    assert status == 400 and answer["position"] > len(many) // 2, answer
    status, answer = post(json.dumps({"report": {}, "crash": {"error": 7}}).encode())
    assert status == 422 and answer["path"] == "/crash/error", answer
    assert post(b"[]")[0] in (400, 422)
    assert post(json.dumps([crash(n, "x") for n in range(300)]).encode())[0] == 413
    bomb = zlib.compress(b"[" + b" " * (40 << 20) + b"]")
    assert post(bomb, "deflate")[0] == 413
    assert post(b"\x78\x9c nothing", "deflate")[0] == 400
    assert post(b"\x0bnothing at all", "br")[0] == 400
    assert mired.ask("POST", "/api/v1/reports", None, many, Content_Type=kind)[0] == 401


def archives_in_archives(mired, folder, key):
    """Reports in a zip in a tar in a zip; a folder of a device's files; what is encrypted or of no format is named, and hides nothing else."""
    inner, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("nine.json", json.dumps(crash(9, "-[Feed draw]")))
        archive.writestr("ten.json.gz", gzip.compress(json.dumps(crash(10, "-[Feed draw]")).encode()))
    with tarfile.open(fileobj=outer, mode="w:xz") as archive:
        member = tarfile.TarInfo("lots/inner.zip")
        member.size = len(inner.getvalue())
        archive.addfile(member, io.BytesIO(inner.getvalue()))
    with zipfile.ZipFile(folder / "nested.zip", "w") as archive:
        archive.writestr("day/inner.tar.xz", outer.getvalue())
        archive.writestr("readme.txt", "nothing")
        archive.writestr("eleven.json", json.dumps(crash(11, "-[Feed draw]")).encode("utf-16"))
    said = mired.mire("import", "--dry-run", folder / "nested.zip")
    assert said.count("Caller1 -[Feed draw]") == 3, said
    mired.mire("import", folder / "nested.zip", MIRE_KEY=key)


def heap_dumps(mired, folder, key):
    """A heap dump is a report of memory, once however often it is sent."""
    hprof.Heap(3, True).write(folder / "app.hprof")
    said = mired.mire("import", "--dry-run", folder / "app.hprof")
    assert ": hprof, " in said and ", memory, " in said, said
    for _ in range(2):
        mired.mire("import", folder / "app.hprof", MIRE_KEY=key)


def a_second_app(mired, folder, key):
    """A file that went to one app is new to a second one, by each way; another way, key and try double nothing."""
    kind = "application/vnd.kscrash+json"
    event = {"event_id": "a" * 32, "timestamp": 1760000000.5, "platform": "python", "level": "error",
             "exception": {"values": [{"type": "ValueError", "value": "x", "mechanism": {"type": "excepthook", "handled": False},
                                       "stacktrace": {"frames": [{"function": "second", "module": "shop", "in_app": True}]}}]}}
    envelope = b"\n".join(json.dumps(part).encode() for part in ({"event_id": "a" * 32}, {"type": "event"}, event))
    path = folder / "reports" / "one.json"

    def send(key):
        mired.mire("import", path, folder / "app.hprof", MIRE_KEY=key)
        by_http = json.loads(mired.ask("POST", "/api/v1/reports", key, path.read_bytes(), Content_Type=kind)[2])["report_ids"]
        project = key_app[key]
        status, _, answer = mired.ask("POST", f"/api/{project}/envelope/?sentry_key={key}", None, envelope, Content_Type="application/x-sentry-envelope")
        assert status == 200 and json.loads(answer)["id"] == "a" * 32, (status, answer)
        return by_http

    rows = "SELECT app_id, count(*) FROM report GROUP BY 1 ORDER BY 1"
    keys = [key, mired.key("second", "ingest"), mired.key("second", "ingest")]
    apps = dict(line.split("|") for line in mired.sql("SELECT slug, app_id FROM app"))
    key_app = {key: apps["shop"], keys[1]: apps["second"], keys[2]: apps["second"]}
    of_shop = send(keys[0])
    before = dict(line.split("|") for line in mired.sql(rows))
    of_second = send(keys[1])
    assert of_shop != of_second, of_shop
    after = dict(line.split("|") for line in mired.sql(rows))
    assert after == {**before, apps["second"]: "3"}, (before, after)
    for key in keys:
        send(key)
    assert dict(line.split("|") for line in mired.sql(rows)) == after
    until("the second app has its issues", lambda: sorted(issue["category"] for issue in mired.issues("second")) == ["crash", "crash", "memory"])


def main():
    with scratch("imports") as name:
        folder = pathlib.Path(name)
        reports = folder / "reports"
        reports.mkdir()
        mired = Mired(folder)
        try:
            key = mired.key("shop", "ingest")
            (reports / "one.json").write_text(json.dumps(crash(1, "-[Cart total]")))
            (reports / "many.json").write_text(json.dumps([crash(2, "-[Cart total]"), crash(3, "-[Feed draw]")]))
            with zipfile.ZipFile(folder / "older.zip", "w") as archive:
                archive.writestr("a/four.json", json.dumps(crash(4, "-[Cart total]")))
            lines = mired.mire("import", "--dry-run", reports, folder / "older.zip").splitlines()
            assert len(lines) == 4 and sum("Caller1 -[Cart total]" in line for line in lines) == 3, lines
            for _ in range(2):  # the second doubles nothing
                mired.mire("import", reports, folder / "older.zip", MIRE_KEY=key)
            want = (4, 4, {"-[Cart total]", "-[Feed draw]"})
            until("the crashes are issues, each once", lambda: issues(mired) == want)
            (reports / "five.json").write_text(json.dumps(crash(5, "-[Cart total]")))
            mired.mire("import", reports, MIRE_KEY=key)
            until("only the new one is added", lambda: issues(mired) == (5, 5, want[2]))
            (folder / "broken.json").write_text(json.dumps([crash(6, "-[Cart total]")])[:-40])
            said = mired.mire("import", folder / "broken.json", code=1, MIRE_KEY=key)
            assert "byte" in said and "too early" in said, said
            assert "format" in mired.mire("import", __file__, code=1, MIRE_KEY=key)
            by_media_type(mired, key)
            until("those that came by HTTP are added", lambda: issues(mired) == (7, 7, want[2]))
            archives_in_archives(mired, folder, key)
            until("those of archives are added", lambda: issues(mired) == (10, 10, want[2]))
            heap_dumps(mired, folder, key)
            until("a heap dump is an issue", lambda: [issue["totals"]["reports"] for issue in mired.issues("shop") if issue["category"] == "memory"] == [1])
            a_second_app(mired, folder, key)
        finally:
            mired.stop()


main()
