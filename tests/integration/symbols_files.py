#!/usr/bin/env python3
"""integration/symbols-files - what `mire symbols look` finds beside, inside and around a file: split files that were moved, packages, slices of
universal files. Each is built here by gcc, clang and LLVM's tools; their own readers are asked the same where they can.
"""
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

os.environ["PATH"] += ":/usr/lib/llvm-14/bin"  # llvm-lipo has no other name in Debian
ROOT, BUILD = pathlib.Path(os.environ["MIRE_SOURCE_DIR"]), pathlib.Path(os.environ["MIRE_BINARY_DIR"])
MIRE = BUILD / "server/mire"
SOURCE = """
static volatile int sink;
static inline __attribute__((always_inline)) void inner(int n)
{
    sink = n * 3;
}
__attribute__((noinline)) void outer(int n)
{
    inner(n);
    sink = 5;
}
int main(int argc, char **argv)
{
    (void)argv;
    outer(argc);
    return 0;
}
"""


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def look(path, addresses, *options, says=""):
    """Chains of (function, file, line), innermost first; `says` is in what is told on standard error."""
    done = subprocess.run([MIRE, "symbols", "look", *options, path, *[f"{a:x}" for a in addresses]], capture_output=True, text=True)
    assert done.returncode == 0 and (says in done.stderr if says else not done.stderr), done
    return [[(f, *p.rsplit(":", 1)) for f, p in zip(lines[::2], lines[1::2])]
            for lines in (block.split("\n") for block in done.stdout.split("\n\n")[:-1])]


def symbols(path, tool="nm"):
    """Address of each function."""
    rows = (line.split() for line in run(tool, "--defined-only", path).splitlines())
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}


class Files(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)

    def has_inlined_call(self, path, symbols_of=None, **more):
        low = symbols(symbols_of or path)["outer"]
        chains = [[f for f, _, _ in chain] for chain in look(path, range(low, low + 12), **more)]
        self.assertIn(["inner", "outer"], chains, path)

    def split(self, name, *flags):
        """A program whose functions lie in a .dwo, built in build/obj; the folder is moved away afterwards."""
        (self.folder / "build/obj").mkdir(parents=True)
        source = self.folder / "build/main.c"
        source.write_text(SOURCE)
        run("clang", "-O1", "-gdwarf-5", "-gsplit-dwarf", *flags, "-c", "obj/../main.c", "-o", "obj/main.o", cwd=self.folder / "build")
        run("clang", "obj/main.o", "-o", f"obj/{name}", "-Wl,--build-id", cwd=self.folder / "build")
        (self.folder / "build").rename(self.folder / "moved")
        return self.folder / "moved/obj" / name

    def test_split_files_that_were_moved_with_their_program(self):
        app = self.split("app")
        dwo = app.with_name("main.dwo")
        self.has_inlined_call(app)
        shutil.move(app, app.parents[1] / "app")  # one folder up: it was told as obj/main.dwo
        app = app.parents[1] / "app"
        self.has_inlined_call(app)
        shutil.copy(dwo, app.with_name("main.dwo"))
        dwo.unlink()
        self.has_inlined_call(app)

    def package(self, app):
        run("llvm-dwp", "-e", app, "-o", app.with_name("package"), cwd=app.parent)
        for dwo in app.parent.glob("*.dwo"):
            dwo.unlink()
        return app.with_name("package")

    def test_packages_beside_debug_files_of_any_name(self):
        app = self.split("app")
        shutil.move(app.parents[1], self.folder / "build")  # where the .dwo is looked for
        app = self.folder / "build/obj/app"
        package = self.package(app)
        (app.parent / ".debug").mkdir()
        for debug, dwp in (("app.debug", "app.debug.dwp"), ("app.dbg", "app.dwp"), ("app.so.dbg", "app.so.dwp"), ("app.sym", "app.dwp"),
                           (".debug/app.debug", "app.dwp"), (".debug/app.dbg", ".debug/app.dwp")):
            run("objcopy", "--only-keep-debug", app, app.parent / debug)
            shutil.copy(package, app.parent / dwp)
            with self.subTest(debug=debug, dwp=dwp):
                self.has_inlined_call(app.parent / debug, symbols_of=app)
            (app.parent / dwp).unlink()
            (app.parent / debug).unlink()

    def test_a_package_inside_the_debug_file(self):
        app = self.split("app")
        shutil.move(app.parents[1], self.folder / "build")
        app = self.folder / "build/obj/app"
        package, debug = self.package(app), app.with_name("app.dbg")
        names = re.findall(r"(\.debug_\S+(?:\.dwo|_index))", run("readelf", "-SW", package))
        self.assertGreater(len(names), 3)
        for name in names:
            run("objcopy", f"--dump-section={name}={app.parent / name[1:]}", package, "/dev/null")
        package.unlink()
        run("objcopy", "--only-keep-debug", *[f"--add-section={name}={app.parent / name[1:]}" for name in names], app, debug)
        self.has_inlined_call(debug, symbols_of=app)

    def universal(self, targets):
        """One file of several architectures; function only_N is in the Nth alone. (Not linked: addresses are those of its sections.)"""
        parts = []
        for i, target in enumerate(targets):
            part = self.folder / f"part{i}"
            run("clang", "-target", f"{target}-apple-macos11", "-O1", "-g", "-c", "-x", "c", "-", "-o", part,
                input=SOURCE + f"void only_{i}(void) {{ sink = {i}; }}\n", stderr=subprocess.DEVNULL)
            data = bytearray(part.read_bytes())
            self.add_uuid(data, i + 1)
            part.write_bytes(data)
            parts.append(part)
        fat = self.folder / "fat"
        run("llvm-lipo", "-create", *parts, "-output", fat)
        return fat

    @staticmethod
    def add_uuid(data, number):
        """An object has none: it takes the place of the load command that tells the version of the system."""
        at = 32
        for _ in range(int.from_bytes(data[16:20], "little")):
            command, size = (int.from_bytes(data[at + i:at + i + 4], "little") for i in (0, 4))
            if command == 0x32 and size == 24:
                data[at:at + 4] = (0x1b).to_bytes(4, "little")
                data[at + 8:at + 24] = bytes([number]) * 16
                return
            at += size
        raise AssertionError("no LC_BUILD_VERSION")

    def test_slices_of_universal_files(self):
        fat = self.universal(["x86_64", "arm64"])
        low = [symbols(self.folder / f"part{i}", "llvm-nm")[f"_only_{i}"] for i in (0, 1)]
        says = "has slices for x86_64, arm64; the answers are of x86_64"
        self.assertEqual(look(fat, [low[0]], says=says)[0][0][0], "only_0")
        for arch, i in (("x86_64", 0), ("arm64", 1), ("aarch64", 1)):
            self.assertEqual(look(fat, [low[i]], "--arch", arch)[0][0][0], f"only_{i}")
            theirs = run("llvm-symbolizer", f"--obj={fat}", f"--default-arch={'arm64' if i else 'x86_64'}", hex(low[i])).split("\n")
            self.assertEqual(theirs[0], f"only_{i}")
        out = run(MIRE, "symbols", "look", "--arch", "all", fat, f"{low[0]:x}", f"{low[1]:x}")
        self.assertEqual(re.findall(r"(?m)^(x86_64|arm64):$", out), ["x86_64", "arm64"] * 2)
        self.assertTrue(re.search(r"arm64:\nonly_1\n", out) and re.search(r"x86_64:\nonly_0\n", out), out)
        done = subprocess.run([MIRE, "symbols", "look", "--arch", "armv7", fat, "0"], capture_output=True, text=True)
        self.assertTrue(done.returncode and "has no slice for armv7, but for x86_64, arm64" in done.stderr, done)
        bundle = self.folder / "fat.dSYM/Contents/Resources/DWARF"
        bundle.mkdir(parents=True)
        fat.rename(bundle / "fat")
        self.assertEqual(look(self.folder / "fat.dSYM", [low[1]], "--arch", "arm64")[0][0][0], "only_1")


if __name__ == "__main__":
    if not shutil.which("clang") or not shutil.which("llvm-lipo"):
        print("clang and LLVM's tools are not at hand", file=sys.stderr)
        sys.exit(0)
    unittest.main(verbosity=2)
