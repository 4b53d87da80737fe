#!/usr/bin/env python3
"""integration/symbols-damaged - debug files that are damaged, or tell less, before whole ones come: files, split files, packages, files of
dwz. A damaged file is used as far as it can be read, is named as damaged, and a whole one takes its place."""

import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from late import INLINED, Debuginfod, Late  # noqa: E402
from mired import until  # noqa: E402


class DamagedTest(Late):
    def test_a_damaged_file_in_a_directory_is_replaced_by_a_whole_one(self):
        app, debug, build = self.program("by-dir-damaged", 17, source=INLINED)
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
        program, debug, build = self.program(app, mark, source=INLINED, flags=["-gsplit-dwarf", version])
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
        missing, = [one for one in self.get(f"/apps/{app}/symbols")["missing"] if one["build_id"] == build]
        self.assertEqual((missing["reports"], missing["reports_with_names"]), (1, 1))
        split = re.search(r"stored +([0-9a-f]{16}) ", upload("--all", damaged, code=1))[1]
        self.assertEqual(missing["defect"], f"is damaged: 1 or more of its units cannot be read whole; 1 split file is damaged ({split})")
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
        program, debug, build = self.program(app, mark, source=INLINED)
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
        app, debug, build = self.program("by-damaged", 8, source=INLINED)
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
                self.assertRegex(said, rf"(?m)^lesser  {build}  debug .*; full.debug is used, which has DWARF; this file has only lines$")
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
