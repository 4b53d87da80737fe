#!/usr/bin/env python3
"""Databases of rpm, asked which modules come from the program's source package: made by rpm itself, whole and damaged."""
import lzma
import os
import random
import shutil
import subprocess
import tempfile
import unittest

SOURCE = os.environ["MIRE_SOURCE_DIR"]
TIES = os.path.join(os.environ["MIRE_BINARY_DIR"], "tests", "integration", "ties")
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


def ties(root, program, paths, timeout=60):
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

    def test_damaged_databases_end_with_an_answer(self):
        """Whatever is in the files: no crash, no endless walk."""
        rng = random.Random(30)
        ndb = self.unpack_ndb("usr/share/rpm")
        files = [self.make("var/lib/rpm")] + [os.path.join(ndb, name) for name in ("Packages.db", "Index.db")]
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
            if path.endswith("sqlite"):  # it is asked first: the others would not be read
                os.remove(path)


if __name__ == "__main__":
    unittest.main()
