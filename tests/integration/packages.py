#!/usr/bin/env python3
"""Which modules come from the program's source package: by databases that rpm makes itself, whole and damaged, and, where there
is none, by the ELF files, which the compiler makes."""
import contextlib
import json
import lzma
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import unittest

SOURCE = os.environ["MIRE_SOURCE_DIR"]
TIES = os.path.join(os.environ["MIRE_BINARY_DIR"], "tests", "integration", "ties")
CC = os.environ.get("CC", "cc")
FOLDERS = ["usr/lib/sysimage/rpm", "usr/share/rpm", "var/lib/rpm"]

# A program, its library in a package of its own, and so many other files that headers take many pages and the index is deep.
SPEC = """
Name: {name}
Version: 43.1~rc
Release: 1
Summary: -
License: -
%description
-
%package libs
Summary: -
%description libs
-
%install
mkdir -p %{{buildroot}}/usr/bin %{{buildroot}}/usr/lib64/{name} %{{buildroot}}/usr/share/{name}
touch %{{buildroot}}/usr/bin/{name} %{{buildroot}}/usr/lib64/{library} %{{buildroot}}/usr/lib64/{name}/backend.so
for i in $(seq {files}); do > %{{buildroot}}/usr/share/{name}/page-$i-of-a-manual-with-a-long-name; done
%files
/usr/bin/{name}
%files libs
/usr/lib64/{library}
/usr/lib64/{name}
/usr/share/{name}
"""

PROGRAM = "/usr/bin/evince"
ASKED = ["/usr/lib64/libevview3.so.3.0.0", "/usr/lib64/libgtk-3.so.0.1", "/usr/lib64/libevview3.so.3", "/opt/libmine.so",
         "/usr/bin/evince", "/lib64/libevview3.so.3.0.0"]
ANSWERS = ["same", "other", "other", "other", "same", "same"]


def ties(root, program, paths, timeout=300):
    got = subprocess.run([TIES, root, program, *paths], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout)
    if got.returncode != 0:
        raise AssertionError(f"status {got.returncode}: {got.stderr}")
    return got.stdout.split()


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.mkdtemp(prefix="mire-packages-")
        cls.addClassCleanup(shutil.rmtree, cls.top)
        cls.base = os.path.join(cls.top, "made")
        for name, library, files in (("evince", "libevview3.so.3.0.0", 3000), ("gtk3", "libgtk-3.so.0.1", 40)):
            spec = os.path.join(cls.top, name + ".spec")
            with open(spec, "w") as out:
                out.write(SPEC.format(name=name, library=library, files=files))
            cls.run_tool("rpmbuild", "-bb", "--quiet", "--define", f"_topdir {cls.base}", "--target", "noarch", spec)

    @classmethod
    def run_tool(cls, *words):
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=cls.top))

    def setUp(self):
        self.root = tempfile.mkdtemp(dir=self.top)

    def make(self, folder):
        """rpm writes its database there, as an installation does; no file of the packages is installed."""
        path = os.path.join(self.root, folder)
        os.makedirs(path)
        packages = [os.path.join(at, name) for at, _, names in os.walk(self.base) for name in names if name.endswith(".rpm")]
        self.assertEqual(len(packages), 4)
        self.run_tool("rpm", "--dbpath", path, "--initdb")
        self.run_tool("rpm", "--dbpath", path, "--justdb", "--nodeps", "--noscripts", "--nosignature", "--ignorearch", "-i", *packages)
        return os.path.join(path, "rpmdb.sqlite")

    def unpack_ndb(self, folder="usr/lib/sysimage/rpm"):
        path = os.path.join(self.root, folder)
        os.makedirs(path)
        for name in ("Packages.db", "Index.db"):
            with lzma.open(os.path.join(SOURCE, "tests", "fixtures", "packages", "ndb", name + ".xz")) as packed:
                with open(os.path.join(path, name), "wb") as out:
                    out.write(packed.read())
        return path

    def test_rpm_tells_the_source(self):
        for folder in FOLDERS:
            with self.subTest(folder=folder):
                self.root = tempfile.mkdtemp(dir=self.top)
                self.make(folder)
                self.assertEqual(ties(self.root, PROGRAM, ASKED), ANSWERS)

    def test_every_file_of_a_large_package_is_found(self):
        self.make("var/lib/rpm")
        pages = [f"/usr/share/evince/page-{i}-of-a-manual-with-a-long-name" for i in range(1, 3001, 37)]
        self.assertEqual(set(ties(self.root, PROGRAM, pages)), {"same"})
        self.assertEqual(set(ties(self.root, "/usr/bin/gtk3", pages)), {"other"})
        self.assertEqual(ties(self.root, PROGRAM, ["/usr/lib64/evince/backend.so", "/usr/lib64/gtk3/backend.so", "/usr/lib64/backend.so"]),
                         ["same", "other", "other"])

    def test_a_program_of_no_package_has_ties_to_none(self):
        self.make("var/lib/rpm")
        self.assertEqual(ties(self.root, "/home/a/app", ASKED[:4]), ["other", "other", "unknown", "unknown"])
        self.assertEqual(ties(self.root, "", ASKED[:1]), ["other"])

    def test_ndb_tells_the_source(self):
        self.unpack_ndb()
        self.assertEqual(ties(self.root, PROGRAM, ASKED), ANSWERS)
        self.assertEqual(ties(self.root, "/home/a/app", ASKED[:4]), ["other", "other", "unknown", "unknown"])

    def make_bdb(self, folder="var/lib/rpm", page=4096):
        """Berkeley DB's own loader writes the headers as rpm 4.15 and older keep them; rpm itself must find them there."""
        if not shutil.which("db5.3_load"):
            self.skipTest("db5.3_load is not installed")
        path = self.make("made/by-rpm")
        with contextlib.closing(sqlite3.connect(path)) as made:
            rows = made.execute("SELECT hnum, blob FROM Packages").fetchall()
        self.assertEqual(len(rows), 4)
        rows.append((0, struct.pack("=I", 4)))  # the counter of numbers
        out = os.path.join(self.root, folder)
        os.makedirs(out, exist_ok=True)
        text = f"VERSION=3\nformat=bytevalue\ntype=hash\ndb_pagesize={page}\nHEADER=END\n"
        text += "".join(f" {struct.pack('=I', number).hex()}\n {bytes(header).hex()}\n" for number, header in rows) + "DATA=END\n"
        subprocess.run(["db5.3_load", os.path.join(out, "Packages")], input=text, text=True, check=True)
        return os.path.join(out, "Packages")

    def test_berkeley_db_tells_the_source(self):
        for page in (512, 4096, 32768):
            with self.subTest(page=page):
                self.root = tempfile.mkdtemp(dir=self.top)
                path = self.make_bdb(page=page)
                known = subprocess.run(["rpm", "--dbpath", os.path.dirname(path), "--define", "_db_backend bdb_ro", "-qa", "--qf", "%{NAME} %{SOURCERPM}\n"],
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
                self.assertIn("evince-libs evince-43.1~rc-1.src.rpm\n", known)
                self.assertEqual(ties(self.root, PROGRAM, ASKED), ANSWERS)
                pages = [f"/usr/share/evince/page-{i}-of-a-manual-with-a-long-name" for i in range(1, 3001, 37)]
                self.assertEqual(set(ties(self.root, PROGRAM, pages)), {"same"})
                self.assertEqual(set(ties(self.root, "/usr/bin/gtk3", pages)), {"other"})
                self.assertEqual(ties(self.root, "/home/a/app", ASKED[:4]), ["other", "other", "unknown", "unknown"])

    def test_damaged_databases_end_with_an_answer(self):
        """Whatever is in the files: no crash, no endless walk."""
        rng = random.Random(30)
        ndb = self.unpack_ndb("usr/share/rpm")
        files = [self.make("var/lib/rpm")] + [os.path.join(ndb, name) for name in ("Packages.db", "Index.db")]
        if shutil.which("db5.3_load"):
            files.append(self.make_bdb("usr/share/rpm"))
        for path in files:
            with open(path, "rb") as whole:
                original = whole.read()
            for turn in range(20):
                damaged = bytearray(original)
                for _ in range(rng.choice([1, 20, 2000])):
                    damaged[rng.randrange(min(len(damaged), rng.choice([200, 9000, 1 << 30])))] = rng.choice([0, 1, 5, 127, 128, 255])
                if turn % 10 == 9:
                    del damaged[rng.randrange(len(damaged)):]
                with open(path, "wb") as out:
                    out.write(damaged)
                self.assertEqual(len(ties(self.root, PROGRAM, ASKED)), len(ASKED))
            with open(path, "wb") as out:
                out.write(original)
            if path.endswith(("sqlite", "Index.db")):  # it is asked first: the others would not be read
                os.remove(path)


class Builds(unittest.TestCase):
    """No database knows the program or its modules."""

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="mire-builds-")
        self.addCleanup(shutil.rmtree, self.root)

    def build(self, path, note=None, options=()):
        """A program, or a library if its name says so, with a package note."""
        where = self.root + path
        os.makedirs(os.path.dirname(where), exist_ok=True)
        source = "int main(void) { return 0; }\n"
        if note is not None:
            text = json.dumps(note) if isinstance(note, dict) else note
            size = len(text.encode()) + 1
            quoted = text.replace("\\", "\\\\").replace('"', '\\"')
            source += f"""__asm__(".pushsection .note.package,\\"a\\",@note\\n.balign 4\\n.long 4, {size}, 0xcafe1a7e\\n.asciz \\"FDO\\"\\n"
                          ".asciz " {json.dumps('"' + quoted + '"')} "\\n.balign 4\\n.popsection");"""
        shared = ["-shared", "-fPIC"] if ".so" in path else []
        subprocess.run([CC, "-x", "c", "-", "-o", where, *shared, *options], input=source, text=True, check=True)
        return path

    def test_files_with_the_note_of_one_source_package_are_one_build(self):
        fedora = {"type": "rpm", "name": "evince", "version": "43.1-2.fc37", "architecture": "x86_64", "osCpe": "cpe:/o:fedoraproject:fedora:37"}
        program = self.build("/usr/bin/evince", fedora)
        cases = [("libevview3.so.3", dict(fedora, architecture="noarch"), "same"),
                 ("libother.so.3", dict(fedora, name="gtk3"), "other"),
                 ("libprefix.so.3", dict(fedora, name="evince-libs"), "other"),
                 ("libdebian.so.3", dict(fedora, type="deb"), "other"),
                 ("libbare.so.3", None, "unknown"),
                 ("libempty.so.3", "", "unknown"),
                 ("libnumber.so.3", '{"type":"rpm","name":7}', "unknown"),
                 ("libopen.so.3", '{"type":"rpm","name":"evince', "unknown"),
                 ("libspaced.so.3", '{ "version" : "name" ,\t"name" : "evince" , "type" : "rpm" }', "same"),
                 ("libquoted.so.3", '{"url":"a\\\\\\"name\\\":\\"evince","type":"rpm","name":"b"}', "other")]
        paths = [self.build("/usr/lib64/" + name, note) for name, note, _ in cases]
        self.assertEqual(list(zip(paths, ties(self.root, program, paths))), [(path, case[2]) for path, case in zip(paths, cases)])

    def test_a_program_without_a_note_is_of_no_known_build(self):
        program = self.build("/usr/bin/shop")
        part = self.build("/usr/lib/libcart.so", {"type": "deb", "name": "shop"})
        self.assertEqual(ties(self.root, program, [part, "/usr/lib/none.so", "", "[vdso]"]), ["unknown"] * 4)

    def test_a_folder_of_the_programs_search_path_is_its_own(self):
        inside = ["/usr/lib/cart/libcart.so", "/lib/cart/libcart.so", "/usr/lib/cart/plugins/libtax.so"]
        outside = ["/usr/lib/libcart.so", "/usr/lib/cart2/libcart.so", "/usr/lib/x86_64-linux-gnu/libz.so.1", "/usr/lib64/libz.so.1"]
        for search in ("/usr/lib/cart", "$ORIGIN/../lib/cart", "${ORIGIN}/../lib/./cart//", "/usr/local/lib:/opt:/usr/lib/cart/",
                       "/lib/cart:relative"):
            with self.subTest(search=search):
                old = "--disable-new-dtags" if search.startswith("$") else "--enable-new-dtags"
                program = self.build("/usr/bin/shop", options=[f"-Wl,{old},-rpath,{search}"])
                self.assertEqual(ties(self.root, program, inside + outside), ["same"] * 3 + ["unknown"] * 4)

    def test_folders_of_all_programs_are_nobodys(self):
        modules = ["/usr/lib/libz.so.1", "/usr/lib/x86_64-linux-gnu/libz.so.1", "/usr/local/lib/libz.so", "/usr/lib64/a/libz.so",
                   "/usr/lib/x86_64-linux-gnu/gtk/libz.so", "/usr/libexec/a"]
        for search in ("/usr/lib", "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu/", "$ORIGIN/../lib", "/usr/local/lib", "/usr", "/",
                       "/usr/libexec", "/usr/lib64", "", ":", "$ORIGIN", "$ORIGIN/../../../..", "$ORIGINAL/../lib/x86_64-linux-gnu/gtk"):
            with self.subTest(search=search):
                program = self.build("/usr/bin/shop", options=[f"-Wl,-rpath,{search}"] if search else [])
                self.assertEqual(ties(self.root, program, modules), ["unknown"] * 6)
        program = self.build("/usr/bin/shop", options=["-Wl,-rpath,/usr/lib/x86_64-linux-gnu/gtk"])
        self.assertEqual(ties(self.root, program, modules), ["unknown"] * 4 + ["same", "unknown"])

    def test_damaged_files_end_with_an_answer(self):
        rng = random.Random(31)
        note = {"type": "deb", "name": "shop"}
        program = self.build("/usr/bin/shop", note, ["-Wl,-rpath,/usr/lib/cart"])
        part = self.build("/usr/lib/cart/libcart.so", note)
        os.mkfifo(self.root + "/usr/lib/fifo.so")
        self.assertEqual(ties(self.root, program, [part, "/usr/lib/fifo.so"]), ["same", "unknown"])
        for path in (program, part):
            with open(self.root + path, "rb") as whole:
                original = whole.read()
            for turn in range(20):
                damaged = bytearray(original)
                for _ in range(rng.choice([1, 20, 500])):
                    damaged[rng.randrange(min(len(damaged), rng.choice([64, 1000, 1 << 30])))] = rng.choice([0, 1, 4, 127, 128, 255])
                if turn % 10 == 9:
                    del damaged[rng.randrange(len(damaged)):]
                with open(self.root + path, "wb") as out:
                    out.write(damaged)
                self.assertEqual(len(ties(self.root, program, [part])), 1)
            with open(self.root + path, "wb") as out:
                out.write(original)


if __name__ == "__main__":
    unittest.main()
