#!/usr/bin/env python3
"""integration/symbols-files - what `mire symbols look` finds beside, inside and around a file: split files that were moved, packages, slices of
universal files. Each is built here by gcc, clang and LLVM's tools; their own readers are asked the same where they can.
"""
import glob
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
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


SHARED = """
struct shelf { template <typename T> __attribute__((noinline)) T twice(T n) { return n * 2 + size; } int size; };
inline __attribute__((noinline)) int shared(int n)
{
    return n * 5 + 1;
}
"""
PARTS = {
    "cart": SHARED + """
static volatile int sink;
static inline __attribute__((always_inline)) void inner(int n) { sink = n * 3; }
__attribute__((noinline)) void outer(int n) { inner(n); sink = 5; }
int helper(int);
static __attribute__((noinline)) int hidden(int x) { return sink + x; }
int main(int argc, char **)
{
    shelf s{argc};
    outer(argc);
    return helper(argc) + hidden(3) + shared(argc) + s.twice(argc) + (int)s.twice(2.5);
}
""",
    "a long name of a part": SHARED + """
static volatile int other;
static __attribute__((noinline)) int deep(int n) { other = n; return other * 2 + shared(n); }
int helper(int n)
{
    shelf s{n};
    return deep(n) + 1 + s.twice(n);
}
"""}


class DebugMap(unittest.TestCase):
    """A program for macOS without a dSYM: its object files tell the same as the dSYM that dsymutil makes of them."""

    def setUp(self):
        Files.setUp(self)

    def program(self, target, version):
        folder = self.folder / f"{target}-{version}"
        folder.mkdir()
        for name, text in PARTS.items():
            (folder / f"{name}.cc").write_text(text)
            run("clang++", "-target", f"{target}-apple-macos11", "-O1", f"-gdwarf-{version}", "-c", f"{name}.cc", "-o", f"{name}.o", cwd=folder)
        long = next(name for name in PARTS if " " in name)
        run("llvm-ar", "--format=darwin", "rcs", "libparts.a", f"{long}.o", cwd=folder)
        (folder / f"{long}.o").unlink()
        run("ld64.lld", "-arch", target, "-platform_version", "macos", "11.0", "11.0", "-e", "_main", "-undefined", "dynamic_lookup",
            "cart.o", "libparts.a", "-o", "app", cwd=folder)
        if version < 5:
            run("dsymutil", folder / "app", "-o", folder / "app.dSYM")
        rows = sorted(int(row.split()[0], 16) for row in run("llvm-nm", folder / "app").splitlines() if re.search(" [tT] _(?!_mh)", row))
        return folder / "app", range(rows[0], rows[-1] + 60)

    def test_objects_where_they_were_linked_from(self):
        for target in ("x86_64", "arm64"):
            app, addresses = self.program(target, 4)
            chains = look(app, addresses)
            self.assertEqual(chains, look(app.with_name("app.dSYM"), addresses), target)
            newer, _ = self.program(target, 5)  # which dsymutil of LLVM 14 does not read
            named = lambda chains: [[(f, os.path.basename(p), n) for f, p, n in chain] for chain in chains]  # noqa: E731
            self.assertEqual(named(look(newer, addresses)), named(chains), target)
            functions = {f for chain in chains for f, _, n in chain if int(n)}
            for name in ("inner", "outer", "hidden", "deep", "helper", "shared", "main"):
                self.assertTrue(any(re.search(rf"\b{name}\b", f) for f in functions), (name, functions))
            self.assertTrue(any(f.startswith("double shelf::twice<double>") for f in functions), functions)

    def test_objects_that_moved_or_changed(self):
        app, addresses = self.program("arm64", 4)
        whole = look(app, addresses)
        moved = self.folder / "moved"
        app.parent.rename(moved)
        app = moved / "app"
        self.assertEqual(look(app, addresses), whole, "they lie beside the program")
        part = moved / "cart.cc"
        part.write_text("\n\n" + part.read_text().replace("sink = 5;", "for (int i = 0; i < n; i++) sink += sink * i + 7; sink = 5;").replace("hidden", "other"))
        run("clang++", "-target", "arm64-apple-macos11", "-O1", "-gdwarf-4", "-c", part, "-o", moved / "cart.o")
        chains = look(app, addresses)
        self.assertFalse([chain for chain in chains if "cart.cc" in chain[0][1]], "lines of what was built anew")
        names = lambda chains: [chain[-1][0] for chain in chains]  # noqa: E731
        self.assertEqual(names(chains), names(whole), "the symbol table has names all the same")
        self.assertTrue([chain for chain in chains if "a long name" in chain[0][1]])


GO = """package main

import "os"

type cart struct{ n int }

func inner(x int) int { return x*3 + 1 } // inner

func middle(x int) int {
	y := inner(x) // middle
	return y + 2
}

//go:noinline
func (c *cart) add(x int) int {
	c.n += middle(x) // add
	return c.n
}

func main() {
	c := &cart{}
	for i := 0; i < len(os.Args)+3; i++ {
		println(c.add(i))
	}
}
"""

# A table as Go's linker writes it, of one function with a call inlined at 8 to 16; by hand, for versions that nobody has at hand.
GO_TABLE = """
.text
.globl text
text: .skip 32, 0x90
.section .go.module, "aw"
.quad table {before_text}, text {between}, data
.section .rodata
data: .byte 0
.balign 4
tree: {tree}
.section .gopclntab, "a"
table: .long {magic}
.byte 0, 0, 1, 8
{header}
{names_at} names: .byte 0
outer: .asciz "main.outer"
inner: .asciz "main.inner"
units: .long first - files
files: {files}
first: .asciz "/src/a.go"
tables: .byte 0
file: .byte {file}, 32, 0
line: .byte 22, 8, 9, 8, 14, 16, 0
inlined: .byte 0, 8, 2, 8, 1, 16, 0
.balign 8
functions: {functions}
record: {entry}
.long outer - {names}, 0, 0, 0, file - {tables}, line - {tables}, 3, 0
{start_line}
.byte 0, 0, 0, 4
.long 0, 0, inlined - {tables}
{data}
.section .note.GNU-stack
"""


def go_table(version):
    """Its parts by version: 12, 116, 118, 120."""
    late, old = version >= 118, version == 12
    words = ".quad 1, 1" + (", 0" if late else "") + "".join(f", {one} - table" for one in ("names", "units", "files", "tables", "functions"))
    between = ", 0" * ((40 if version == 120 else 38) - 23)
    tree = {120: ".long 0, inner - names, 8, 0", 118: ".long 0xffff, 0, 0, inner - names, 8", 116: ".long 0xffff, 0, 0, inner - names, 8", 12: ""}
    functions = (".long 0, record - functions, 32" if late else ".quad text, record - functions, text + 32")
    return GO_TABLE.format(
        magic={12: "0xfffffffb", 116: "0xfffffffa", 118: "0xfffffff0", 120: "0xfffffff1"}[version],
        before_text=", 0" * 21, between=between, tree=tree[version], names_at="",
        header=".quad 1, text, record - table, text + 32\n.long files - table" if old else words,
        files=".long 2, first - table" if old else "", file=4 if old else 2, functions="" if old else functions,
        names="table" if old else "names", tables="table" if old else "tables",
        entry=".long 0" if late else ".quad text", start_line=".long 0" if version == 120 else "",
        data=".long -1, -1, -1, tree - data" if late else ".balign 8\n.quad 0, 0, 0, tree" if not old else ".quad 0, 0, 0, 0")


class Go(unittest.TestCase):
    def setUp(self):
        Files.setUp(self)

    def test_tables_of_every_version(self):
        for version in (12, 116, 118, 120):
            path = self.folder / f"go{version}"
            run("gcc", "-nostdlib", "-static", "-Wl,-etext,--build-id,-Ttext=0x401000", "-s", "-x", "assembler", "-", "-o", path, input=go_table(version))
            chains = look(path, [0x401000, 0x401008, 0x40100f, 0x401010, 0x40101f, 0x401020])
            outer = lambda line: [("main.outer", "/src/a.go", line)]  # noqa: E731
            # The line of an inlined call before Go 1.16 stands alone; the call is where the code at 8 in the function is.
            middle = outer("5") if version == 12 else [("main.inner", "/src/a.go", "5"), ("main.outer", "/src/a.go", "5")]
            self.assertEqual(chains, [outer("10"), middle, middle, outer("12"), outer("12"), [("??", "??", "0")]], version)

    @unittest.skipUnless(shutil.which("go"), "no Go here")
    def test_programs_without_symbols_and_debug_information(self):
        (self.folder / "main.go").write_text(GO)
        (self.folder / "go.mod").write_text("module example.com/shop\ngo 1.18\n")
        env = os.environ | {"GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
        whole, bare = self.folder / "whole", self.folder / "bare"
        lines = {mark: str(1 + i) for i, line in enumerate(GO.split("\n")) for mark in ("inner", "middle", "add") if line.endswith(f"// {mark}")}
        others = [("linux", ("-buildmode=pie",)), ("darwin", ())] if os.environ.get("MIRE_GO_ALL") else []  # a minute to compile Go's own packages
        for system, flags in [("linux", ()), *others]:
            run("go", "build", *flags, "-trimpath", "-o", whole, ".", cwd=self.folder, env=env | {"GOOS": system})
            run("go", "build", *flags, "-trimpath", "-ldflags=-s -w", "-o", bare, ".", cwd=self.folder, env=env | {"GOOS": system})
            low, = [int(row.split()[0], 16) for row in run("go", "tool", "nm", whole).splitlines() if row.endswith("main.(*cart).add")]
            chains = look(bare, range(low, low + 24))
            self.assertIn([(f"main.{name}", "example.com/shop/main.go", lines[mark])
                           for name, mark in (("inner", "inner"), ("middle", "middle"), ("(*cart).add", "add"))], chains, (system, flags))
            if system == "linux" and not flags:
                self.same_as_debug_information(whole, bare)

    def same_as_debug_information(self, whole, bare):
        """Functions, files and lines are those of the DWARF: at 500 places all over the program."""
        run("objcopy", "--strip-all", whole, bare)
        at, size = (int(x, 16) for x in re.search(r" \.text +PROGBITS +(\w+) +\w+ +(\w+)", run("readelf", "-SW", whole)).groups())
        addresses = range(at, at + size, size // 500)
        plain = lambda chains: [[(re.sub(r"\[[^]]*\]|\.abi0$", "", f), p.removeprefix("./"), n) for f, p, n in c] for c in chains]  # noqa: E731
        pairs = list(zip(plain(look(whole, addresses)), plain(look(bare, addresses))))
        other = [(a, b) for a, b in pairs if a != b and not any(p == "??" or "<autogenerated>" in p for _, p, _ in a + b)]
        self.assertLess(len(other), 5, other)
        self.assertGreater(sum(len(b) > 1 for _, b in pairs), 50)


SHOP = """
int total;
static __attribute__((noinline)) int price_of(int item) { return item * total + 7; }
__attribute__((noinline)) int cart_add(int item) { total += price_of(item); return total; }
"""
HIDDEN_NAMES = ("cart.c", "/home/me/shop", "price_of", "_price_of", "cart_add")
ORIGINAL = "0123ABCD-4567-89AB-CDEF-0123456789AB"


class Taker(http.server.BaseHTTPRequestHandler):
    """Lacks every file it is asked for, and keeps what comes."""

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        return self.rfile.read(int(self.headers["Content-Length"]))

    def do_POST(self):
        self.answer(200, {"files": [{**file, "missing": True} for file in json.loads(self.body())["files"]]})

    def do_GET(self):
        self.answer(200, {"have_bytes": 0})

    def do_PUT(self):
        self.server.taken.append(self.body())
        self.answer(201, {"files": []})

    def log_message(self, *_):
        pass


class Bitcode(unittest.TestCase):
    """A dSYM whose names are hidden, with its map in the archive around it, tells the same as the dSYM of the program with its names."""

    def setUp(self):
        Files.setUp(self)
        folder = self.folder
        (folder / "cart.c").write_text(SHOP)
        text = run("clang", "-target", "x86_64-apple-macos11", "-O1", "-gdwarf-4", "-fdebug-compilation-dir=/home/me/shop", "-S", "-emit-llvm",
                   "cart.c", "-o", "-", cwd=folder)
        self.link(text, folder / "named")
        for number, name in enumerate(HIDDEN_NAMES):
            text = text.replace(f'"{name}"', f'"__hidden#{number}_"').replace("@" + name[1:] + "(", f'@"\\01__hidden#{number}_"(')
        self.link(text, folder / "shop")
        rows = run("llvm-nm", folder / "shop").splitlines()
        starts = sorted(int(row.split()[0], 16) for row in rows if re.search(" [tT] _", row))
        self.addresses = range(starts[0], starts[-1] + 16)
        self.archive = folder / "shop.xcarchive"
        self.bundle = self.archive / "dSYMs/shop.dSYM"
        self.map = self.archive / f"BCSymbolMaps/{ORIGINAL}.bcsymbolmap"
        self.map.parent.mkdir(parents=True)
        self.bundle.parent.mkdir()
        run("dsymutil", folder / "shop", "-o", self.bundle)
        self.map.write_text("BCSymbolMap Version: 2.0\n" + "".join(name + "\n" for name in HIDDEN_NAMES))
        run("dsymutil", folder / "named", "-o", folder / "named.dSYM")
        uuid = run("llvm-dwarfdump", "--uuid", folder / "shop").split()[1]
        (self.bundle / f"Contents/Resources/{uuid}.plist").write_text(
            f'<?xml version="1.0"?>\n<plist version="1.0">\n<dict>\n\t<key>DBGOriginalUUID</key>\n\t<string>{ORIGINAL}</string>\n</dict>\n</plist>\n')
        self.told = look(folder / "named.dSYM", self.addresses)

    def link(self, text, out):
        source, made = out.with_suffix(".ll"), out.with_suffix(".o")
        source.write_text(text)
        run("clang", "-target", "x86_64-apple-macos11", "-O1", "-c", source, "-o", made)
        run("ld64.lld", "-dylib", "-arch", "x86_64", "-platform_version", "macos", "11.0", "11.0", made, "-o", out)

    def sent(self, path):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Taker)
        server.taken = []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            env = {**os.environ, "MIRE_SERVER": f"http://127.0.0.1:{server.server_address[1]}", "MIRE_KEY": "a" * 32}
            run(MIRE, "symbols", "upload", path, env=env)
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
        return server.taken

    def test_names_come_back(self):
        self.assertIn(("price_of", "/home/me/shop/cart.c", "3"), [chain[-1] for chain in self.told])
        self.assertEqual(look(self.bundle, self.addresses), self.told)
        shutil.make_archive(str(self.folder / "packed"), "zip", self.folder, self.archive.name)
        for path in self.archive, self.folder / "packed.zip":
            taken = self.sent(path)
            self.assertEqual(len(taken), 1, path)
            (self.folder / "taken").write_bytes(taken[0])
            self.assertEqual(look(self.folder / "taken", self.addresses), self.told, path)

    def test_names_without_a_map_stay_hidden(self):
        for wrong in "BCSymbolMap Version: 2.0\n", None:
            self.map.write_text(wrong) if wrong else self.map.unlink()
            self.assertIn("__hidden#2_", [chain[-1][0] for chain in look(self.bundle, self.addresses)])
        self.map.write_text("BCSymbolMap Version: 7.0\nmain\n")
        done = subprocess.run([MIRE, "symbols", "look", self.bundle, "0"], capture_output=True, text=True)
        self.assertIn("BCSymbolMap of a version that is not read", done.stderr)


if __name__ == "__main__":
    if not shutil.which("clang") or not shutil.which("llvm-lipo"):
        print("clang and LLVM's tools are not at hand", file=sys.stderr)
        sys.exit(0)
    unittest.main(verbosity=2)
