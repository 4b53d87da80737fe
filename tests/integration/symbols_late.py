#!/usr/bin/env python3
"""integration/symbols-late - debug files that come after the reports: by `mire symbols upload`, by a directory, from a debuginfod server.

A real mired and a real program: stripped, run under `mire run`, it hangs. Its issue is one of addresses until its debug file comes, in
whichever way; then the same issue has names. An upload is killed in the middle and gone on with.
"""

import fcntl
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import threading
import unittest
import zipfile

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from mired import BINARY, MIRE, SOURCE, Mired, scratch, until  # noqa: E402

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


class LateTest(Programs):
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

    def test_names_and_paths_in_another_encoding(self):
        """Bytes that are not UTF-8, in a symbol table and in a path, cost no report and are read as Latin-1."""
        source = PROGRAM.replace("static void paint_rows(void)\n{", 'void paint_rows(void) __asm__("peindre_\udce9t\udce9");\n'
                                 '#line 100 "caf\udce9.c"\n__attribute__((noinline)) void paint_rows(void)\n{', 1)
        app, debug, _ = self.program("latin", 41, source=source)
        self.mire("symbols", "upload", "--key", self.key("latin", "symbols"), debug)
        issue = self.hang(app, caller1="(paint_rows|peindre_été)")
        report = self.get(f"/apps/latin/issues/{issue['id']}/reports")["reports"][0]
        self.assertIn("café.c", json.dumps(self.get(f"/apps/latin/issues/{issue['id']}/reports/{report['id']}"), ensure_ascii=False))

    def test_upload(self):
        app, debug, build = self.program("by-upload", 0)
        before = self.hang(app)
        missing = {one["build_id"]: one for one in self.get("/apps/by-upload/symbols")["missing"]}
        self.assertEqual((missing[build]["name"], missing[build]["reports"]), ("by-upload", 1))
        key = self.key("by-upload", "symbols")
        packed = debug.parent / "symbols.tar.gz"
        with tarfile.open(packed, "w:gz") as tar:
            tar.add(debug, "debug/app.debug")
        shutil.copy(SOURCE / "README.md", debug.parent / "README")
        for file in ("app.c", "app.debug", "whole"):
            (debug.parent / file).unlink()
        said = self.mire("symbols", "upload", "--key", key, debug.parent)
        self.assertRegex(said, rf"(?m)^stored  {build}  debug   .*symbols.tar.gz: debug/app.debug$")
        self.assertIn("2 stored, 0 there already, 0 failed", said)
        self.becomes_named("by-upload", before)
        self.assertNotIn(build, [one["build_id"] for one in self.get("/apps/by-upload/symbols")["missing"]])
        self.assertIn("0 stored, 2 there already, 0 failed; 0.0 MB", self.mire("symbols", "upload", "--key", key, debug.parent))
        cut = debug.parent / "cut.debug"
        cut.write_bytes(pathlib.Path(MIRE).read_bytes()[:100000])
        for useless in (cut, debug.parent / "README", debug.parent / "none.debug"):
            said = self.mire("symbols", "upload", "--key", key, packed, useless, code=1)
            self.assertIn("1 there already", said, "the others are sent")
            self.assertRegex(said, rf"(?m)^mire symbols: {useless}:? \w+")

    def test_archives_of_every_kind(self):
        """Packed by the tools themselves: what is in it is sent, and shown with its path; an archive in an archive too."""
        _, debug, build = self.program("packed", 111)
        tools = {"xz": ["xz"], "zst": ["zstd", "-q"], "bz2": ["bzip2"], "gz": ["gzip"]}
        folder = debug.parent
        inside = folder / "in/d\u00e9bug"
        inside.mkdir(parents=True)
        shutil.copy(debug, inside / "app.debug")
        subprocess.run(["tar", "-cf", "in.tar", "in"], cwd=folder, check=True)
        packed = {}
        for end, tool in tools.items():
            for name in ("in.tar", "app.debug"):
                with open(folder / f"{name}.{end}", "wb") as out:
                    subprocess.run([*tool, "-c", folder / name], stdout=out, check=True)
                packed[f"{name}.{end}"] = ": in/débug/app.debug" if name == "in.tar" else ""
        control = folder / "deb/DEBIAN/control"
        control.parent.mkdir(parents=True)
        control.write_text("Package: app-dbgsym\nVersion: 1\nArchitecture: all\nMaintainer: Kim <kim@example.com>\nDescription: d\n")
        shutil.copytree(inside, folder / "deb/usr/lib/debug")
        for how in ("xz", "gzip", "none"):
            subprocess.run(["dpkg-deb", f"-Z{how}", "--root-owner-group", "-b", "deb", f"{how}.deb"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            packed[f"{how}.deb"] = ": ./usr/lib/debug/app.debug"
        with zipfile.ZipFile(folder / "all.zip", "w", zipfile.ZIP_BZIP2) as archive:
            archive.write(folder / "xz.deb", "debs/xz.deb")
        packed["all.zip"] = ": debs/xz.deb: ./usr/lib/debug/app.debug"
        subprocess.run(["tar", "-cJf", "nested.tar.xz", "all.zip"], cwd=folder, check=True)
        packed["nested.tar.xz"] = ": all.zip: debs/xz.deb: ./usr/lib/debug/app.debug"
        key = self.key("packed", "symbols")
        for name, path in packed.items():
            with self.subTest(archive=name):
                said = self.mire("symbols", "upload", "--all", "--key", key, folder / name)
                self.assertRegex(said, rf"(?m)^stored  {build}  debug   .*/{re.escape(name + path)}$")
        broken = folder / "broken.tar.xz"
        broken.write_bytes((folder / "in.tar.xz").read_bytes()[:-2000])
        self.assertIn("is damaged", self.mire("symbols", "upload", "--key", key, broken, code=1))
        seven = folder / "a.7z"
        seven.write_bytes(b"7z\xbc\xaf\x27\x1c\0\x04" + bytes(100))
        said = self.mire("symbols", "upload", "--key", key, seven, code=1)
        self.assertIn("is a 7z archive, which is not read: pack it as zip or tar", said)
        self.assertEqual(self.ask("PUT", "/symbols?name=a.7z", key, seven.read_bytes())[0], 422)

    def test_the_version_of_a_bundle_or_package(self):
        """Its manifest tells it, in both forms, for the mapping in it."""
        manifests = SOURCE / "tests/fixtures/symbols/manifest"
        for i, (name, manifest, place) in enumerate((("app.aab", "message.xml", "base/manifest/AndroidManifest.xml"),
                                                     ("app.apk", "utf8.xml", "AndroidManifest.xml"), ("old.apk", "utf16.xml", "AndroidManifest.xml"))):
            app = f"versions-{i}"
            with zipfile.ZipFile(self.folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.write(manifests / manifest, place)
                archive.writestr("BUNDLE-METADATA/com.android.tools.build.obfuscation/proguard.map",
                                 f"# compiler: R8\n# pg_map_id: abcdef{i}\na.Cart -> a.a:\n    void add() -> b\n")
            said = self.mire("symbols", "upload", "--key", self.key(app, "symbols"), self.folder / name)
            self.assertIn("1 stored", said)
            rows = self.mired.sql(f"SELECT version || ' ' || build FROM symbol_alias a JOIN app USING (app_id) WHERE app.slug = '{app}'")
            self.assertEqual(rows, ["8.0.38-\u03b2", "1042"], name)
            self.mired.sql(f"DELETE FROM symbol_alias WHERE version = '8.0.38-\u03b2'")
            body = (self.folder / name).read_bytes()
            self.assertEqual(self.ask("PUT", f"/symbols?name={name}", self.key(app, "symbols"), body)[0], 201)
            self.assertEqual(self.mired.sql("SELECT count(*) FROM symbol_alias WHERE build = '1042'"), ["1"], "by the page, too")
            self.mired.sql("DELETE FROM symbol_alias WHERE build = '1042'")

    def test_debuginfod(self):
        app, debug, build = self.program("by-debuginfod", 1)
        path = f"/buildid/{build}/debuginfo"
        Debuginfod.files[path] = debug.read_bytes()
        Debuginfod.held[path] = threading.Event()
        before = self.hang(app)
        Debuginfod.held[path].set()
        self.becomes_named("by-debuginfod", before)
        self.assertEqual(Debuginfod.asked.count(path), 1)
        there = {one["build_id"]: one for one in self.get("/apps/by-debuginfod/symbols")["files"]}
        self.assertEqual(there[build]["source"], f"http://127.0.0.1:{self.server.server_port}")
        for one in self.get("/apps/by-debuginfod/symbols")["missing"]:  # the libraries: nobody has them
            until("it is looked for", lambda: self.looks("by-debuginfod", one["build_id"]))
            asked = Debuginfod.asked.count(f"/buildid/{one['build_id']}/debuginfo")
            self.assertLessEqual(asked, self.looks("by-debuginfod", one["build_id"]), "nothing is asked for again at once")

    def looks(self, app, build):
        return next((one["looks"] for one in self.get(f"/apps/{app}/symbols")["missing"] if one["build_id"] == build and one["answer"]), 0)

    def test_build_ids_of_any_length(self):
        """A linker takes any id that it is given: by upload one of a byte, and in a directory one of 64."""
        app, debug, build = self.program("by-id-of-1", 42, flags=["-Wl,--build-id=0x5a"])
        self.assertEqual(build, "5a")
        before = self.hang(app)
        self.assertIn(build, [one["build_id"] for one in self.get("/apps/by-id-of-1/symbols")["missing"]])
        self.assertRegex(self.mire("symbols", "upload", "--key", self.key("by-id-of-1", "symbols"), debug), r"(?m)^stored  5a ")
        self.becomes_named("by-id-of-1", before)
        for length in (1, 64):
            build = "7b" * length
            app, debug, told = self.program(f"by-id-in-dir-{length}", 43 + length, flags=[f"-Wl,--build-id=0x{build}"])
            self.assertEqual(told, build)
            place = self.folder / f"dirs/.build-id/{build[:2]}/{build[2:]}.debug"
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(debug, place)
            self.hang(app, caller1="paint_rows")

    def test_lies_and_large_files_of_a_server(self):
        app, _, build = self.program("by-liar", 2)
        Debuginfod.files[f"/buildid/{build}/debuginfo"] = (BINARY / "server/mire").read_bytes()
        before = self.hang(app)
        answer = until("it is looked for", lambda: next(
            (one["answer"] for one in self.get("/apps/by-liar/symbols")["missing"] if one["build_id"] == build), ""))
        self.assertIn("sent something else", answer)
        self.assertEqual(self.issues("by-liar")[0]["caller1"], before["caller1"])

    def test_directory(self):
        app, debug, build = self.program("by-dir", 3)
        before = self.hang(app)
        until("it was looked for, and is nowhere", lambda: self.looks("by-dir", build))
        place = self.folder / f"dirs/.build-id/{build[:2]}/{build[2:]}.debug"
        place.parent.mkdir(parents=True)
        shutil.copy(debug, place.with_suffix(".aside"))
        place.with_suffix(".aside").rename(place)
        self.becomes_named("by-dir", before)

    def test_a_damaged_file_in_a_directory_is_replaced_by_a_whole_one(self):
        source = PROGRAM.replace("__attribute__((noinline)) static void paint_rows", "static inline __attribute__((always_inline)) void paint_rows")
        app, debug, build = self.program("by-dir-damaged", 17, source=source)
        place = self.folder / f"dirs/.build-id/{build[:2]}/{build[2:]}.debug"
        place.parent.mkdir(parents=True)
        place.write_bytes(self.blank(bytearray(debug.read_bytes())))
        before = self.hang(app, caller1="on_click")
        until("it was looked for, and is there", lambda: [one for one in self.get("/apps/by-dir-damaged/symbols")["missing"]
                                                          if one["build_id"] == build and one["answer"].startswith("found in")])
        until("the job ends", lambda: all(job["state"] == "done" for job in self.get("/apps/by-dir-damaged/rekey")["jobs"]))
        shutil.copy(debug, place.with_suffix(".aside"))
        place.with_suffix(".aside").rename(place)
        self.inlined_call_is_to_blame("by-dir-damaged", before)
        self.assertNotIn(build, [one["build_id"] for one in self.get("/apps/by-dir-damaged/symbols")["missing"]])

    def test_a_split_file_comes_after_its_program(self):
        """The debug file refers to a .dwo, which has the inlined call; it comes last."""
        source = PROGRAM.replace("__attribute__((noinline)) static void paint_rows", "static inline __attribute__((always_inline)) void paint_rows")
        app, debug, build = self.program("by-dwo", 6, source=source, flags=["-gsplit-dwarf"])
        before = self.hang(app)
        key = self.key("by-dwo", "symbols")
        self.mire("symbols", "upload", "--key", key, debug)
        named = until("the symbol table names the function", lambda: [one for one in self.issues("by-dwo") if one["caller1"] == "on_click"])[0]
        self.assertEqual(named["id"], before["id"])
        lacks = {one["build_id"]: one for one in self.get("/apps/by-dwo/symbols")["missing"]}
        self.assertEqual((lacks[build]["reports"], lacks[build]["reports_with_names"]), (1, 1))
        until("the job ends", lambda: all(job["state"] == "done" for job in self.get("/apps/by-dwo/rekey")["jobs"]))
        dwo = next(debug.parent.glob("*.dwo"))
        self.assertIn("1 stored", self.mire("symbols", "upload", "--key", key, dwo))
        until("the inlined call is to blame", lambda: [one["caller1"] for one in self.issues("by-dwo")] == ["paint_rows"])
        self.assertNotIn(build, [one["build_id"] for one in self.get("/apps/by-dwo/symbols")["missing"]])

    @staticmethod
    def section(elf, name, make):
        """Another text for a section: of its size."""
        table, = struct.unpack_from("<Q", elf, 0x28)
        count, names = struct.unpack_from("<HH", elf, 0x3C)
        texts, = struct.unpack_from("<Q", elf, table + 64 * names + 0x18)
        for row in range(table, table + 64 * count, 64):
            at = texts + struct.unpack_from("<I", elf, row)[0]
            offset, size = struct.unpack_from("<QQ", elf, row + 0x18)
            if elf[at:elf.index(0, at)] == name:
                elf[offset:offset + size] = make(elf[offset:offset + size])
        return elf

    @classmethod
    def zero_entries(cls, elf):
        """Of a copy whose middle did not come: the entries behind the first ones of each unit are zeros."""
        return cls.section(elf, b".debug_info.dwo", lambda was: was[:64] + bytes(len(was) - 64))

    def damaged_split(self, app, mark, pack, version):
        """Its program and the damaged split file are there when it hangs; a whole one, by `pack` of its .dwo, comes after."""
        source = PROGRAM.replace("__attribute__((noinline)) static void paint_rows", "static inline __attribute__((always_inline)) void paint_rows")
        program, debug, build = self.program(app, mark, source=source, flags=["-gsplit-dwarf", version])
        key = self.key(app, "symbols")
        upload = lambda *words, **more: self.mire("symbols", "upload", "--key", key, *words, **more)  # noqa: E731
        whole = pack(next(debug.parent.glob("*.dwo")))
        damaged = whole.with_name("damaged" + whole.suffix)
        damaged.write_bytes(self.zero_entries(bytearray(whole.read_bytes())))
        cut = whole.with_name("cut" + whole.suffix)
        cut.write_bytes(whole.read_bytes()[:whole.stat().st_size * 2 // 3])
        self.assertRegex(self.mire("symbols", "upload", "--key", key, cut, code=1), rf"{cut} has .*\n.*no file with a build id")
        self.assertEqual(self.ask("PUT", "/symbols?name=cut", key, cut.read_bytes())[0], 422)
        self.assertIn("1 stored, 0 there already", upload(debug))
        self.assertRegex(upload(damaged, code=1),
                         r"(?m)^stored .*; it is damaged: 1 or more of its units cannot be read whole, the first at 0x0 of .debug_info$")
        before = self.hang(program, caller1="on_click")
        lacking, = [one for one in self.get(f"/apps/{app}/symbols")["missing"] if one["build_id"] == build]
        self.assertEqual((lacking["reports"], lacking["reports_with_names"]), (1, 1))
        split = re.search(r"stored +([0-9a-f]{16}) ", upload("--all", damaged, code=1))[1]
        self.assertEqual(lacking["defect"], f"is damaged: 1 or more of its units cannot be read whole; 1 split file is damaged ({split})")
        self.assertRegex(upload(damaged, code=1), rf"(?m)^there   {split} .*; it is damaged: 1 or more of its units[^$]*0 stored, 1 there already")
        self.assertIn("1 stored", upload(whole))
        self.inlined_call_is_to_blame(app, before)
        self.assertNotIn(build, [one["build_id"] for one in self.get(f"/apps/{app}/symbols")["missing"]])
        self.assertIn("0 stored, 1 there already", upload(whole))

    def test_a_damaged_dwo_is_replaced_by_a_whole_one(self):
        self.damaged_split("by-damaged-dwo", 18, lambda dwo: dwo, "-gdwarf-5")

    def test_a_damaged_package_is_replaced_by_a_whole_one(self):
        def pack(dwo):
            subprocess.run(["dwp", "-o", dwo.with_name("app.dwp"), dwo], check=True)
            return dwo.with_name("app.dwp")
        self.damaged_split("by-damaged-dwp", 19, pack, "-gdwarf-4")  # dwp knows no other

    def dwz(self, app, mark):
        """A program of which the name of an inlined call lies in a file of dwz, and the debug file, by upload; it hangs. That file,
        its build id, and the issue."""
        source = PROGRAM.replace("__attribute__((noinline)) static void paint_rows", "static inline __attribute__((always_inline)) void paint_rows")
        program, debug, build = self.program(app, mark, source=source)
        twin = debug.with_name("twin")
        shutil.copy(debug.with_name("whole"), twin)
        common = debug.with_name("common.debug")
        subprocess.run(["dwz", "-m", common.name, debug.with_name("whole").name, twin.name], cwd=debug.parent, check=True)
        subprocess.run(["objcopy", "--only-keep-debug", debug.with_name("whole"), debug], check=True)
        shared = re.search(r"Build ID: (\w+)", subprocess.run(["readelf", "-n", common], check=True, capture_output=True, text=True).stdout)[1]
        self.assertRegex(self.mire("symbols", "upload", "--key", self.key(app, "symbols"), debug), rf"(?m)^stored  {build} .*app.debug$")
        issue = self.hang(program, caller1="on_click")
        self.says_dwz(app, build, shared, "missing")
        until("the job ends", lambda: all(job["state"] == "done" for job in self.get(f"/apps/{app}/rekey")["jobs"]))
        return common, build, shared, issue

    def says_dwz(self, app, build, shared, how):
        missing = {one["build_id"]: one for one in self.get(f"/apps/{app}/symbols")["missing"]}
        self.assertEqual(missing[build]["defect"], f"its dwz file is {how} (common.debug, {shared})")
        told = missing[shared]
        self.assertEqual((told["name"], told["reports"], told["reports_with_names"]), ("common.debug", 1, 1))
        self.assertEqual(told["defect"], "is damaged" if how == "damaged" else "")

    def dwz_comes(self, app, build, shared, issue):
        self.inlined_call_is_to_blame(app, issue)
        self.assertFalse({build, shared} & {one["build_id"] for one in self.get(f"/apps/{app}/symbols")["missing"]})

    def inlined_call_is_to_blame(self, app, issue):
        """The report moves to an issue of the inlined function; the emptied one leads there once the job has ended."""
        until("the inlined call is to blame", lambda: [one for one in self.issues(app) if one["caller1"] == "paint_rows"])
        until("the old number leads there", lambda: self.get(f"/apps/{app}/issues/{issue['id']}")["issue"]["caller1"] == "paint_rows")

    def test_a_file_of_dwz_comes_after_its_program_first_damaged(self):
        common, build, shared, issue = self.dwz("by-dwz", 22)
        key = self.key("by-dwz", "symbols")
        damaged = common.with_name("damaged")
        damaged.write_bytes(self.section(bytearray(common.read_bytes()), b".debug_abbrev", lambda was: bytes(len(was))))
        self.assertRegex(self.mire("symbols", "upload", "--key", key, damaged, code=1), rf"(?m)^stored  {shared} .*; it is damaged: ")
        until("it is told to be damaged", lambda: [one for one in self.get("/apps/by-dwz/symbols")["missing"]
                                                   if one["build_id"] == build and "damaged" in one["defect"]])
        self.says_dwz("by-dwz", build, shared, "damaged")
        self.assertIn("0 stored, 1 there already", self.mire("symbols", "upload", "--key", key, damaged, code=1))
        self.assertIn("1 stored", self.mire("symbols", "upload", "--key", key, common))
        self.dwz_comes("by-dwz", build, shared, issue)

    def test_a_file_of_dwz_is_put_into_a_directory(self):
        common, build, shared, issue = self.dwz("by-dwz-dir", 23)
        until("it was looked for, and is nowhere", lambda: self.looks("by-dwz-dir", shared))
        self.assertIn(f"/buildid/{shared}/debuginfo", Debuginfod.asked)
        place = self.folder / f"dirs/.build-id/{shared[:2]}/{shared[2:]}.debug"
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(common, place.with_suffix(".aside"))
        place.with_suffix(".aside").rename(place)
        self.dwz_comes("by-dwz-dir", build, shared, issue)

    def test_a_damaged_file_that_no_report_lacks_yet_is_replaced_by_a_whole_one(self):
        _, debug, build = self.program("by-nobody", 24)
        upload = lambda *words, **more: self.mire("symbols", "upload", "--key", self.key("by-nobody", "symbols"), *words, **more)  # noqa: E731
        defect = lambda: next(one["defect"] for one in self.get("/apps/by-nobody/symbols")["files"] if one["build_id"] == build)  # noqa: E731
        damaged = debug.with_name("damaged")
        damaged.write_bytes(self.blank(bytearray(debug.read_bytes())))
        self.assertRegex(upload(damaged, code=1), rf"(?m)^stored  {build} .*; it is damaged: ")
        self.assertIn("is damaged: ", defect())
        self.assertRegex(upload(damaged, code=1), rf"(?m)^there   {build} .*; it is damaged: ")
        self.assertRegex(upload(debug), rf"(?m)^stored  {build} .*/app.debug$")
        self.assertEqual(defect(), "")
        self.assertIn("0 stored, 1 there already", upload(debug))

    def test_files_that_are_checked_hold_up_nobody(self):
        """The lock of whoever checks is held: as many files as there are handlers come, one in parts. Questions are answered, and
        what comes late in another way is put in. An answer that was lost is had again."""
        app, late, late_build = self.program("by-others", 25)
        before = self.hang(app)
        until("it was looked for, and is nowhere", lambda: self.looks("by-others", late_build))
        until("other jobs end", lambda: not self.mired.sql("SELECT 1 FROM rekey_job WHERE ended_at IS NULL"))
        key = self.key("by-others", "symbols")
        bodies = [self.program(f"checked-{i}", 26 + i)[1].read_bytes() for i in range(6)]
        answers = []
        hash_of = lambda body: hashlib.blake2b(body, digest_size=32).hexdigest()  # noqa: E731
        part = lambda body, at: f"/symbols/uploads/{hash_of(bodies[0])}?at={at}&size={len(bodies[0])}&sum={hash_of(body)}&name=a"  # noqa: E731
        send = lambda path, body: answers.append(self.ask("PUT", path, key, body))  # noqa: E731
        threads = [threading.Thread(target=send, args=(part(bodies[0], 0), bodies[0]))]
        threads += [threading.Thread(target=send, args=(f"/symbols?name={i}", body)) for i, body in enumerate(bodies[1:])]
        with open(self.mired.data / "cache/checking", "w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            for thread in threads:
                thread.start()
            until("all parts have come", lambda: self.ask("GET", f"/symbols/uploads/{hash_of(bodies[0])}", key, None)[1]["have_bytes"])
            place = self.folder / f"dirs/.build-id/{late_build[:2]}/{late_build[2:]}.debug"
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(late, place.with_suffix(".aside"))
            place.with_suffix(".aside").rename(place)
            self.becomes_named("by-others", before)
            self.assertEqual(answers, [])
        for thread in threads:
            thread.join()
        self.assertEqual([status for status, _ in answers], [201] * 6)
        again = self.ask("PUT", part(b"", len(bodies[0])), key, b"")
        self.assertEqual(again[0], 201)
        self.assertIn(again, answers)
        self.assertEqual(self.ask("PUT", part(b"", len(bodies[0])).replace(hash_of(bodies[0]), hash_of(b"unknown")), key, b""), (409, {"have_bytes": 0}))

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

    @staticmethod
    def breakpad_head(build, name):
        uuid = bytes.fromhex(build)[:16]
        uuid = uuid[3::-1] + uuid[5:3:-1] + uuid[7:5:-1] + uuid[8:]  # its first three numbers are turned round
        return f"MODULE Linux x86_64 {uuid.hex().upper()}0 {name}"

    def test_a_breakpad_file_of_a_program_that_is_not_position_independent(self):
        """It counts from where the program is linked; made of what binutils tell, it says what the program's own DWARF does."""
        app, debug, build = self.program("by-breakpad-fixed", 20, flags=["-no-pie"])
        tell = lambda *command: subprocess.run([*command, debug], check=True, capture_output=True, text=True).stdout  # noqa: E731
        self.assertIn("EXEC", tell("readelf", "-h"))
        base = int(re.search(r"LOAD +0x0+ (0x[0-9a-f]+)", tell("readelf", "-lW"))[1], 16)
        self.assertGreaterEqual(base, 1 << 20)
        lines = [(int(address, 16), int(line)) for line, address in
                 re.findall(r"(?m)^app\.c +(\d+) +(0x[0-9a-f]+)", tell("readelf", "--debug-dump=decodedline"))]
        lines.sort(key=lambda row: row[0])
        rows = [self.breakpad_head(build, "by-breakpad-fixed"), f"INFO CODE_ID {build.upper()}", "FILE 0 app.c"]
        for low, size, name in re.findall(r"(?m)^([0-9a-f]+) ([0-9a-f]+) [tT] (\w+)$", tell("nm", "-S")):
            low, high = int(low, 16), int(low, 16) + int(size, 16)
            rows.append(f"FUNC {low - base:x} {high - low:x} 0 {name}")
            own = [row for row in lines if low <= row[0] < high]
            ends = [at for at, _ in own[1:]] + [high]
            rows += [f"{at - base:x} {end - at:x} {line} 0" for (at, line), end in zip(own, ends) if end > at]
        sym = debug.parent / "by-breakpad-fixed.sym"
        sym.write_text("\n".join(rows) + "\n")
        before = self.hang(app)
        self.assertIn("1 stored", self.mire("symbols", "upload", "--key", self.key("by-breakpad-fixed", "symbols"), sym))
        self.becomes_named("by-breakpad-fixed", before)
        stacks = self.get(f"/apps/by-breakpad-fixed/issues/{before['id']}/reports/latest")["samples"]["stacks"]
        frames = {one["offset"]: one for stack in stacks for one in stack["frames"] if one["image"] == "by-breakpad-fixed" and one["file"]}
        self.assertEqual({one["function"] for one in frames.values()}, {"paint_rows", "on_click", "main"})
        said = self.mire("symbols", "look", debug, *frames).strip().split("\n\n")
        for one, answer in zip(frames.values(), said, strict=True):
            self.assertRegex(answer, rf"^{one['function']}\n.*/{one['file']}:{one['line']}$")

    def test_a_breakpad_file_that_knows_only_the_beginning_of_the_build_id(self):
        app, debug, build = self.program("by-breakpad", 10)
        before = self.hang(app)
        rows = [self.breakpad_head(build, "by-breakpad"), "FILE 0 app.c"]
        for line in subprocess.run(["nm", "-S", debug], check=True, capture_output=True, text=True).stdout.splitlines():
            parts = line.split()
            if len(parts) == 4 and parts[2] in "tT":
                low, size = int(parts[0], 16), int(parts[1], 16)
                rows += [f"FUNC {low:x} {size:x} 0 {parts[3]}", f"{low:x} {size:x} 7 0"]
        sym = debug.parent / "by-breakpad.sym"
        sym.write_text("\n".join(rows) + "\n")
        self.assertIn("1 stored", self.mire("symbols", "upload", "--key", self.key("by-breakpad", "symbols"), sym))
        self.becomes_named("by-breakpad", before)

    @staticmethod
    def dwarf_of(elf):
        """Row in the section table, offset and size of each section of DWARF that is of some length."""
        table, = struct.unpack_from("<Q", elf, 0x28)
        for row in range(table + 64, table + 64 * struct.unpack_from("<H", elf, 0x3C)[0], 64):
            address, offset, size = struct.unpack_from("<QQQ", elf, row + 0x10)
            if not address and elf[row + 4] == 1 and size >= 100:
                yield row, offset, size

    def spoil(self, elf):
        """Sections of DWARF say that they are compressed, and are not."""
        for row, offset, _ in self.dwarf_of(elf):
            elf[row + 9] |= 8
            struct.pack_into("<6I", elf, offset, 1, 0, 1000, 0, 1, 0)
        return elf

    def blank(self, elf):
        """Of a copy that was broken off, whoever wrote it had made room for all: sections of DWARF are zeros."""
        for _, offset, size in self.dwarf_of(elf):
            elf[offset:offset + size] = bytes(size)
        return elf

    def test_a_file_that_could_not_be_read_is_tried_when_it_comes_anew(self):
        app, debug, build = self.program("by-repair", 7)
        before = self.hang(app)
        key, good = self.key("by-repair", "symbols"), debug.read_bytes()
        spoilt = debug.parent / "spoilt.debug"
        spoilt.write_bytes(self.spoil(bytearray(good)))
        self.assertRegex(self.mire("symbols", "upload", "--key", key, spoilt, code=1), r"(?m)^stored .*spoilt.debug; it ")
        until("the job ends", lambda: [job for job in self.get("/apps/by-repair/rekey")["jobs"] if job["done"]])
        self.mire("symbols", "upload", "--all", "--key", key, debug)
        self.becomes_named("by-repair", before)

    def test_a_damaged_file_is_replaced_by_a_whole_one(self):
        """Of the damaged one the symbol table can be read, so it is converted; the inlined call is only in the whole one."""
        source = PROGRAM.replace("__attribute__((noinline)) static void paint_rows", "static inline __attribute__((always_inline)) void paint_rows")
        app, debug, build = self.program("by-damaged", 8, source=source)
        before = self.hang(app)
        key = self.key("by-damaged", "symbols")
        upload = lambda *words, **more: self.mire("symbols", "upload", "--key", key, *words, **more)  # noqa: E731
        damaged = debug.parent / "damaged.debug"
        damaged.write_bytes(self.blank(bytearray(debug.read_bytes())))
        self.assertIn("1 damaged: what can be read is used", upload(damaged, code=1))
        status, answer = self.ask("PUT", "/symbols?name=damaged.debug", key, damaged.read_bytes())
        self.assertEqual((status, answer["files"][0]["defect"]), (201, "is damaged: 1 or more of its units cannot be read whole"))
        named = until("what is left of it names the function", lambda: [one for one in self.issues("by-damaged") if one["caller1"] == "on_click"])[0]
        self.assertEqual(named["id"], before["id"])
        until("the job ends", lambda: all(job["state"] == "done" for job in self.get("/apps/by-damaged/rekey")["jobs"]))
        lacks = {one["build_id"]: one for one in self.get("/apps/by-damaged/symbols")["missing"]}
        self.assertEqual((lacks[build]["reports"], lacks[build]["reports_with_names"]), (1, 1))
        self.assertIn("0 stored, 1 there already", upload(damaged, code=1))
        self.assertIn("1 stored", upload(debug))
        whole = until("the inlined call is to blame", lambda: [one for one in self.issues("by-damaged") if one["caller1"] == "paint_rows"])[0]
        self.assertEqual((whole["first_seen_at"], whole["state"]), (before["first_seen_at"], before["state"]))
        until("the old number leads there", lambda: self.get(f"/apps/by-damaged/issues/{before['id']}")["issue"]["caller1"] == "paint_rows")
        self.assertNotIn(build, [one["build_id"] for one in self.get("/apps/by-damaged/symbols")["missing"]])
        self.assertIn("0 stored, 1 there already", upload(debug))
        status, answer = self.ask("PUT", "/symbols?name=app.debug", key, debug.read_bytes())
        self.assertEqual((status, answer["files"][0]["defect"]), (201, ""))

    def test_a_report_read_with_lines_is_derived_again_when_dwarf_comes(self):
        """The lines are those of a Breakpad file, which has no inlined calls; the report misses nothing meanwhile."""
        source = PROGRAM.replace("__attribute__((noinline)) static void paint_rows", "static inline __attribute__((always_inline)) void paint_rows")
        app, debug, build = self.program("by-lines", 13, source=source)
        before = self.hang(app)
        key = self.key("by-lines", "symbols")
        uuid = build[6:8] + build[4:6] + build[2:4] + build[0:2] + build[10:12] + build[8:10] + build[14:16] + build[12:14] + build[16:32]
        rows = [row.split() for row in subprocess.run(["nm", "-S", "--defined-only", debug], check=True, capture_output=True, text=True).stdout.splitlines()]
        functions = [f"FUNC {at} {size} 0 {name}\n{at} {size} 7 0\n" for at, size, kind, name in (row for row in rows if len(row) == 4) if kind in "tT"]
        lines = debug.with_name("by-lines.sym")
        lines.write_text(f"MODULE Linux x86_64 {uuid.upper()}0 by-lines\nINFO CODE_ID {build.upper()}\nFILE 0 lines.c\n" + "".join(functions))
        self.assertIn("1 stored", self.mire("symbols", "upload", "--key", key, lines))
        named = until("lines name the function", lambda: [one for one in self.issues("by-lines") if one["caller1"] == "on_click"])[0]
        self.assertEqual(named["id"], before["id"])
        until("the job ends", lambda: all(job["state"] == "done" for job in self.get("/apps/by-lines/rekey")["jobs"]))
        self.assertNotIn(build, [one["build_id"] for one in self.get("/apps/by-lines/symbols")["missing"]])
        self.assertIn("1 stored", self.mire("symbols", "upload", "--key", key, debug))
        whole = until("the inlined call is to blame", lambda: [one for one in self.issues("by-lines") if one["caller1"] == "paint_rows"])[0]
        self.assertEqual((whole["first_seen_at"], whole["state"]), (before["first_seen_at"], before["state"]))

    def test_of_two_files_of_one_build_the_one_that_tells_more_is_used(self):
        """In any order: DWARF, line tables (gcc -g1, clang -gline-tables-only), Breakpad; names alone are kept beside. What is worse is told."""
        key = self.key("two-files", "symbols")
        upload = lambda *words: self.mire("symbols", "upload", "--key", key, *words)  # noqa: E731
        used = lambda build: [(one["name"], one["depth"]) for one in self.get("/apps/two-files/symbols")["files"]  # noqa: E731
                              if (one["build_id"], one["kind"]) == (build, "debug")]

        def files(number):
            """Of one id; each with a name of its own."""
            build, found = f"{number:02x}" * 20, {}
            for name, flags in (("full", ()), ("lines", ("-g1",))):
                _, debug, _ = self.program(f"{name}-{number}", 600 + number, flags=(f"-Wl,--build-id=0x{build}", *flags))
                found[name] = debug.rename(debug.with_name(f"{name}.debug"))
            uuid = build[6:8] + build[4:6] + build[2:4] + build[0:2] + build[10:12] + build[8:10] + build[14:16] + build[12:14] + build[16:32]
            found["breakpad"] = debug.with_name("app.sym")
            found["breakpad"].write_text(f"MODULE Linux x86_64 {uuid.upper()}0 app\nINFO CODE_ID {build.upper()}\nFILE 0 a.c\nFUNC 1000 10 0 f\n1000 10 1 0\n")
            return build, found

        build, found = files(1)
        self.assertIn("1 stored", upload(found["lines"]))
        self.assertIn("0 stored, 1 there already", upload(found["lines"]))
        self.assertEqual(used(build), [("lines.debug", "lines")])
        self.assertRegex(upload(found["full"]), rf"(?m)^stored  {build}  debug ")
        self.assertEqual(used(build), [("full.debug", "dwarf")])
        self.assertIn("0 stored, 2 there already", upload(found["lines"], found["full"]))
        for lesser in ("lines", "breakpad"):
            with self.subTest(lesser=lesser):
                said = upload("--all", found[lesser])
                self.assertRegex(said, rf"(?m)^lesser  {build}  debug .*; full.debug is used, which has DWARF; this file has lines, no more$")
                self.assertEqual(used(build), [("full.debug", "dwarf")])
        status, answer = self.ask("PUT", "/symbols?name=again", key, found["full"].read_bytes())
        self.assertEqual((status, answer["files"][0]["instead"], answer["files"][0]["depth"]), (201, "", "dwarf"))

        build, found = files(2)  # both in one folder, and in one archive
        folder = self.folder / "both"
        folder.mkdir()
        for name in ("full", "lines"):
            shutil.copy(found[name], folder)
        said = upload(folder)
        self.assertEqual(used(build), [("full.debug", "dwarf")], said)
        build, found = files(3)
        packed = self.folder / "both.tar"
        with tarfile.open(packed, "w") as tar:
            for name in ("full", "lines"):
                tar.add(found[name], f"{name}.debug")
        status, answer = self.ask("PUT", "/symbols?name=both.tar", key, packed.read_bytes())
        self.assertEqual(sorted((one["name"], one["instead"] != "") for one in answer["files"]), [("full.debug", False), ("lines.debug", True)])
        self.assertEqual(used(build), [("full.debug", "dwarf")])
        damaged = bytes(self.blank(bytearray(found["full"].read_bytes())))
        status, answer = self.ask("PUT", "/symbols?name=damaged", key, damaged)
        self.assertRegex(answer["files"][0]["instead"], r"^full.debug is used, which is whole; this file is damaged$")
        self.assertEqual(used(build), [("full.debug", "dwarf")])

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

    def test_a_file_that_was_wrong_is_replaced_and_its_reports_derived_anew_by_hand(self):
        app, debug, build = self.program("by-hand", 9)
        self.hang(app)
        key = self.key("by-hand", "symbols")
        rekey = lambda *words, **more: self.mire("rekey", *words, **more, MIRE_KEY=key)  # noqa: E731
        named = lambda name: until(f"{name} is to blame", lambda: [one for one in self.issues("by-hand") if one["caller1"] == name])[0]  # noqa: E731
        wrong = debug.parent / "wrong.debug"
        wrong.write_bytes(debug.read_bytes().replace(b"paint_rows", b"wrong_rows"))
        self.mire("symbols", "upload", "--key", key, wrong)
        before = named("wrong_rows")
        rekey("watch", "by-hand")
        self.assertIn("0 stored, 1 there already", self.mire("symbols", "upload", "--key", key, debug), "what is there was read whole")
        self.assertIn("1 stored", self.mire("symbols", "upload", "--all", "--key", key, debug))
        self.assertEqual(rekey("preview", "by-hand", "--reason", "a look"),
                         "1 of 1 reports would move; 1 issues would appear, 1 vanish\n"
                         "      1  wrong_rows -> paint_rows in on_click (a new issue)\n")
        self.assertEqual([one["caller1"] for one in self.issues("by-hand")], ["wrong_rows"], "a preview changes nothing")
        job, = re.findall(r"^job (\d+) derives", rekey("start", "by-hand", "--reason", "the file was wrong"))
        self.assertEqual(rekey("watch", "by-hand", job), "1 of 1 reports moved\n      1  wrong_rows -> paint_rows in on_click\n")
        after = named("paint_rows")
        self.assertEqual((after["first_seen_at"], after["state"]), (before["first_seen_at"], before["state"]))
        listed = rekey("list", "by-hand")
        self.assertRegex(listed, rf"(?m)^{job} .* key +done +1 of 1 +1  the file was wrong$")
        self.assertRegex(listed, r"(?m) preview +done +1 of 1 +1  a look$")
        self.assertIn("no such job", rekey("watch", "by-hand", "999", code=1))
        self.assertIn("key of scope symbols", self.mire("rekey", "start", "by-hand", code=1, MIRE_KEY="mk_no"))

    def test_reports_are_derived_anew_when_asked(self):
        app, debug, build = self.program("on-request", 5)
        self.hang(app)
        key = self.key("on-request", "symbols")
        status, answer = self.ask("POST", "/apps/on-request/rekey", key, b'{"preview":true,"detail":"a look"}')
        self.assertEqual(status, 202)
        job = until("it is done", lambda: next((one for one in self.get("/apps/on-request/rekey")["jobs"]
                                                if one["job"] == answer["job"] and one["state"] == "done"), None))
        self.assertEqual((job["done"], job["moved"], job["preview"], job["detail"]), (job["queued"], 0, True, "a look"))
        self.assertEqual(self.ask("POST", "/apps/on-request/rekey", "mk_no", b'{"preview":true}')[0], 401)


class NowhereTest(Programs):
    def test_what_was_looked_at_is_told_in_words(self):
        """Whether there is a setting to be made is seen by whether anybody was asked."""
        held = scratch("nowhere")
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Debuginfod)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        asked = f"--debuginfod=http://127.0.0.1:{server.server_port}"
        self.mired = Mired(self.folder)
        self.addCleanup(lambda: self.mired.stop())
        for mark, (settings, words) in enumerate((
                (["--symbol-dirs=/nonexistent"], "not in 1 directory; no debuginfod server is asked"),
                (["--symbol-dirs=/nonexistent:/usr/lib/debug", asked], "not in 2 directories, nor at 1 debuginfod server"),
                (["--symbol-dirs=/nonexistent", asked + f" http://127.0.0.1:{server.server_port}/other"],
                 "not in 1 directory, nor at 2 debuginfod servers"))):
            with self.subTest(words):
                self.mired.stop()
                self.mired.settings = settings
                self.mired.start()
                app, _, build = self.program(f"nowhere-{mark}", 10 + mark)
                self.hang(app)
                self.assertEqual(words, until("it is looked for", lambda: next(
                    (one["answer"] for one in self.get(f"/apps/{app.name}/symbols")["missing"] if one["build_id"] == build), "")))

    def test_debuginfod_is_asked_for_what_enough_installations_lack(self):
        """And within a budget: anybody with an ingest key can make up modules."""
        held = scratch("budget")
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Debuginfod)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        settings = ["--symbol-dirs=/nonexistent", f"--debuginfod=http://127.0.0.1:{server.server_port}"]
        self.mired = Mired(self.folder, *settings, "--debuginfod-installs=2")
        self.addCleanup(lambda: self.mired.stop())
        app, debug, build = self.program("few", 20)
        path = f"/buildid/{build}/debuginfo"
        Debuginfod.files[path] = debug.read_bytes()

        def answer():
            return next((one["answer"] for one in self.get("/apps/few/symbols")["missing"] if one["build_id"] == build), "")

        def look_now():
            self.mired.sql(f"UPDATE image SET answer = '', look_at = now() WHERE build_id = '\\x{build}'")
            return until("it is looked for", answer)

        self.hang(app)
        self.assertEqual(until("it is looked for", answer),
                         "debuginfod is asked once 2 installations lack it (debuginfod_installs); 1 so far")
        self.hang(app)
        self.assertIn("; 1 so far", look_now(), "another hang of the same installation")
        (app.parent / "store").rename(app.parent / "first")
        self.hang(app)  # of another one
        self.mired.stop()
        self.mired.settings = [*settings, "--debuginfod-installs=2", "--debuginfod-hour=0"]
        self.mired.start()
        self.assertEqual(look_now(), "debuginfod was asked 0 times in this hour (debuginfod_hour); this file waits")
        self.assertNotIn(path, Debuginfod.asked)
        self.mired.stop()
        self.mired.settings = [*settings, "--debuginfod-installs=2", "--debuginfod-hour=1000"]
        self.mired.start()
        self.mired.sql(f"UPDATE image SET look_at = now() WHERE build_id = '\\x{build}'")
        until("it has names", lambda: not self.issues("few")[0]["caller1"].startswith("few+0x"))
        self.assertIn(path, Debuginfod.asked)


if __name__ == "__main__":
    unittest.main(verbosity=2)
