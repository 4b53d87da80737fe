#!/usr/bin/env python3
"""integration/symbols-late - debug files that come after the reports: by `mire symbols upload`, by a directory, from a debuginfod server.

A real mired and a real program: stripped, run under `mire run`, it hangs. Its issue is one of addresses until its debug file comes, in
whichever way; then the same issue has names.
"""

import fcntl
import hashlib
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import unittest
import zipfile

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from late import INLINED, PROGRAM, Debuginfod, Late, Programs  # noqa: E402
from mired import BINARY, MIRE, SOURCE, Mired, scratch, until  # noqa: E402


class LateTest(Late):
    def test_names_and_paths_in_another_encoding(self):
        """Bytes that are not UTF-8, in a symbol table and in a path, cost no report and are read as Latin-1."""
        source = PROGRAM.replace("static void paint_rows(void)\n{", 'void paint_rows(void) __asm__("peindre_\udce9t\udce9");\n'
                                 '#line 100 "caf\udce9.c"\n__attribute__((noinline)) void paint_rows(void)\n{', 1)
        app, debug, _ = self.program("latin", 41, source=source)
        self.mire("symbols", "upload", "--key", self.key("latin", "symbols"), debug)
        issue = self.hang(app, caller1="(paint_rows|peindre_été)")
        report = self.get(f"/apps/latin/issues/{issue['id']}/reports")["reports"][0]
        self.assertIn("café.c", json.dumps(self.get(f"/apps/latin/issues/{issue['id']}/reports/{report['id']}"), ensure_ascii=False))

    def test_a_stripped_function_is_one_place(self):
        """Its samples are at many addresses, none of which holds much of the time: the device tells where the function begins."""
        one = next(line for line in PROGRAM.splitlines() if "memset" in line)
        app, debug, _ = self.program("spread", 42, source=PROGRAM.replace(one, "\n".join([one.split("/*")[0]] * 12)))
        names = subprocess.run(["nm", debug], stdout=subprocess.PIPE, text=True, check=True).stdout
        begin = next(int(line.split()[0], 16) for line in names.splitlines() if line.endswith(" paint_rows"))
        self.assertEqual(self.hang(app)["caller1"], f"spread+{begin:#x}")

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

    def test_a_split_file_comes_after_its_program(self):
        """The debug file refers to a .dwo, which has the inlined call; it comes last."""
        app, debug, build = self.program("by-dwo", 6, source=INLINED, flags=["-gsplit-dwarf"])
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

    def test_a_report_read_with_lines_is_derived_again_when_dwarf_comes(self):
        """The lines are those of a Breakpad file, which has no inlined calls; the report misses nothing meanwhile."""
        app, debug, build = self.program("by-lines", 13, source=INLINED)
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
