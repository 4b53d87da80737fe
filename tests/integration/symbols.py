#!/usr/bin/env python3
"""integration/symbols - `mire symbols look` on one program in every shape compilers and linkers give it.

The program is built by gcc and clang with DWARF 2 to 5, whole, compressed, split off, with link-time optimisation, with
dwz, and for Mach-O. Of the inlined chain planted in it every link is known: function, file and line. Elsewhere binutils'
addr2line is asked: other tools may know less, but what both know has to be the same.

Where the real files of ../shared/data/symbols are at hand, they are read too: every line record of the Breakpad files
beside them, and the planted crash of each CrashProbe report.
"""
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT, BUILD = os.environ["MIRE_SOURCE_DIR"], os.environ["MIRE_BINARY_DIR"]
MIRE = os.path.join(BUILD, "server/mire")
DATA = os.path.join(ROOT, "../shared/data/symbols")

SOURCE = """
#include <stdlib.h>
static volatile int sink;
static inline __attribute__((always_inline)) void innermost(int n)
{
    sink = n * 3; /* innermost */
}
static inline __attribute__((always_inline)) void middle(int n)
{
    sink = n;
    innermost(n + sink); /* middle */
}
namespace shop {
struct counter {
    template <typename T> __attribute__((noinline)) void add(T n)
    {
        middle((int)n); /* outer */
        sink = 5;
    }
};
}
static __attribute__((noinline)) int local_class(int n)
{
    struct hidden {
        __attribute__((noinline)) int method(int k)
        {
            return sink + k; /* method */
        }
    } h;
    return h.method(n) + 1;
}
int main(int argc, char **argv)
{
    shop::counter c;
    c.add(argc);
    if (argc > 5)
        abort();
    return local_class(argc) + (argv == 0);
}
"""
CHAIN = [("innermost", "innermost"), ("middle", "middle"), ("add", "outer")]


def run(*command, text=None, **more):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True, **more).stdout


def look(path, addresses, *options):
    """Chains of (function, file, line), innermost first."""
    out = run(MIRE, "symbols", "look", *options, path, text="".join(f"{a:x}\n" for a in addresses))
    chains = []
    for block in out.split("\n\n")[:-1]:
        lines = block.split("\n")
        chains.append([(f, *p.rsplit(":", 1)) for f, p in zip(lines[::2], lines[1::2])])
    assert len(chains) == len(addresses)
    return chains


def short(function):
    """local_class(int)::hidden::method(int) -> method"""
    names = re.findall(r"(\w+)(?:<[^()]*>)?\(", function)
    return names[-1] if names else function


def line_of(marker):
    return str(1 + SOURCE.split("\n").index(next(x for x in SOURCE.split("\n") if f"/* {marker} */" in x)))


def functions(path):
    """Beginning and end of each function of the program itself."""
    for line in run("nm", "-S", "--defined-only", path).splitlines():
        parts = line.split()
        if len(parts) == 4 and parts[2] in "tTwW" and re.search("add|local_class|method|^main$", parts[3]):
            yield int(parts[0], 16), int(parts[1], 16), parts[3]


def same_as_addr2line(path, addresses, chains, text_of):
    out = run("addr2line", "-a", "-f", "-i", "-e", path, text="".join(f"{a:x}\n" for a in addresses))
    compared = 0
    for block, chain in zip(re.split("^0x[0-9a-f]+\n", out, flags=re.M)[1:], chains):
        lines = block.rstrip("\n").split("\n")
        theirs = [(f, os.path.basename(re.sub(" .*", "", p))) for f, p in zip(lines[::2], lines[1::2])]
        if any("?" in f + p for f, p in theirs):
            continue
        ours = [(f, os.path.basename(p) + ":" + n) for f, p, n in chain]
        assert [p for _, p in theirs] == [p for _, p in ours], (path, theirs, ours)
        outer = re.sub(r"\.\w+(\.\d+)?$", "", theirs[-1][0])  # addr2line may show the name of a clone
        assert outer in ours[-1][0] or not outer.startswith("_Z"), (path, theirs, ours)
        compared += 1
    assert compared > 50, (text_of, compared)


def check(name, path, symbols=None, optimised=True, options=(), oracle=True):
    """`symbols` is the file with the names, where `path` has none."""
    addresses = [low + i for low, size, _ in functions(symbols or path) for i in range(size)]
    assert len(addresses) > 60, name
    chains = look(path, addresses, *options)
    want = [(f, line_of(m)) for f, m in CHAIN]
    found = [[(short(f), n) for f, _, n in chain] for chain in chains]
    assert want in found or not optimised, (name, found)
    assert any(chain[0][0] == "method" and chain[0][1] == line_of("method") for chain in found), (name, found)
    assert all(os.path.basename(p) == "shop.cc" for chain in chains for _, p, _ in chain if p != "??"), (name, chains)
    assert not any("/./" in p or "//" in p for chain in chains for _, p, _ in chain), (name, chains)
    if oracle:
        same_as_addr2line(path, addresses, look(path, addresses, "--mangled", *options), name)
    print("ok", name, len(addresses))


def build(folder, name, *command):
    out = os.path.join(folder, name)
    run(*command, "shop.cc", "-o", out, "-Wl,--build-id", cwd=folder)
    return out


def shapes(folder):
    with open(os.path.join(folder, "shop.cc"), "w") as file:
        file.write(SOURCE)
    for version in "2345":
        check(f"gcc, DWARF {version}", build(folder, f"g{version}", "g++", "-O2", f"-gdwarf-{version}"))
    check("gcc, not optimised", build(folder, "g0", "g++", "-O0", "-g"))
    check("gcc, not at a fixed place", build(folder, "gn", "g++", "-O2", "-g", "-no-pie"))
    check("gcc, zlib", build(folder, "gz", "g++", "-O2", "-g", "-gz=zlib"))
    # Here addr2line takes file 1 for file 0.
    check("gcc, link-time optimisation", build(folder, "glto", "g++", "-O2", "-g", "-flto"), oracle=False)
    check("gcc, sections by function", build(folder, "gs", "g++", "-O2", "-g", "-ffunction-sections"))
    if shutil.which("clang++"):
        for version in "45":
            check(f"clang, DWARF {version}", build(folder, f"c{version}", "clang++", "-O2", f"-gdwarf-{version}"))
        path = build(folder, "coffset", "clang++", "-O2", "-gdwarf-5", "-mllvm", "-minimize-addr-in-v5=Form")
        check("clang, addresses by index and offset", path, oracle=False)
    split(folder)
    names_of_swift(folder)
    names_of_the_linker_alone(folder)
    refused(folder)
    whole = build(folder, "whole", "g++", "-O2", "-g")
    run("objcopy", "--only-keep-debug", whole, whole + ".debug")
    check("split off", whole + ".debug", symbols=whole, oracle=False)
    run("strip", "-o", whole + ".stripped", whole)
    assert all(chain[-1][0] == "??" for chain in look(whole + ".stripped", [a for a, _, _ in functions(whole)]))
    with_symbols_packed(folder, whole)
    if shutil.which("dwz"):
        with_dwz(folder, whole)
    if shutil.which("clang"):
        macho(folder)


def split(folder):
    """Functions in .dwo files, found where the compiler put them; without them what gcc leaves in the program."""
    for compiler in ("g++", "clang++"):
        for version in "45":
            if shutil.which(compiler):
                path = build(folder, f"split-{compiler}{version}", compiler, "-O2", f"-gdwarf-{version}", "-gsplit-dwarf")
                check(f"{compiler}, split DWARF {version}", path, oracle=False)  # addr2line does not read them all
                for dwo in glob.glob(os.path.join(folder, "*.dwo")):
                    os.remove(dwo)
    for packed in ("none", "zlib"):  # a section of entries for each type
        path = build(folder, f"types-{packed}", "g++", "-O2", "-gdwarf-5", "-gsplit-dwarf", "-fdebug-types-section", f"-gz={packed}")
        dwo, = glob.glob(os.path.join(folder, "*.dwo"))
        assert run("readelf", "-SW", dwo).count(".debug_info.dwo") > 1
        check(f"g++, split DWARF 5 with types apart, -gz={packed}", path, oracle=False)
        os.remove(dwo)
    path = build(folder, "split", "g++", "-O2", "-g", "-gsplit-dwarf")
    os.remove(glob.glob(os.path.join(folder, "*.dwo"))[0])
    for low, size, name in functions(path):
        for chain in look(path, [low, low + size - 1], "--mangled"):
            assert [f for f, _, _ in chain] == [name] and chain[0][1].endswith("shop.cc") and int(chain[0][2]), (name, chain)
    print("ok split DWARF without its other half")


def with_symbols_packed(folder, whole):
    """A stripped program that keeps its functions' names in .gnu_debugdata, as Fedora's do."""
    mini, stripped = os.path.join(folder, "mini"), os.path.join(folder, "mini.stripped")
    run("objcopy", "-S", "--remove-section", ".comment", *[f"--keep-symbol={name}" for _, _, name in functions(whole)], whole, mini)
    run("xz", "-k", mini)
    run("strip", "-o", stripped, whole)
    run("objcopy", "--add-section", f".gnu_debugdata={mini}.xz", stripped)
    rows = list(functions(whole))
    assert len(rows) > 2
    for (_, _, name), chain in zip(rows, look(stripped, [low for low, _, _ in rows], "--mangled")):
        assert chain[-1][0] == name, (name, chain)
    print("ok .gnu_debugdata")


def names_of_swift(folder):
    """On Linux they begin with a $, as the marks do that tell code from data; without DWARF the symbol table has them."""
    names = {"$s4shop4CartV3addyS2iF": "Cart.add(_:)", "$d.1": "??", "$x": "??", "$xrv64i2p1": "??", "$apple": "$apple"}
    path = os.path.join(folder, "swift.so")
    text = "".join(f'.globl "{name}"\n.type "{name}", @function\n"{name}": .skip 16, 0x90\n.size "{name}", 16\n' for name in names)
    run("gcc", "-shared", "-nostdlib", "-x", "assembler", "-", "-o", path, text=".text\n" + text + '.section .note.GNU-stack\n')
    rows = {line.split()[2]: int(line.split()[0], 16) for line in run("nm", path).splitlines()}
    for name, shown in names.items():
        assert look(path, [rows[name] + 4])[0][0][0] == shown, name
    print("ok names of Swift without DWARF")


def names_of_the_linker_alone(folder):
    """DWARF that tells a function's own name only: the symbol table's is shown where it is that name mangled, in whatever way."""
    names = {"pack_add": ("_ZN4shop4Cart8pack_addEi", "shop::Cart::pack_add(int)"), "makeLogo": ("$s4Logo04makeA0yyF", "makeLogo()"),
             "sum": ("_D4shop3sumFiZi", "shop.sum"), "add": ("$s4shop4CartV3addyS2iF", "Cart.add(_:)"),
             "other": ("$s4shop4CartV6removeyS2iF", "other"), "plain": ("alias", "plain")}
    unlinked, path = os.path.join(folder, "named.o"), os.path.join(folder, "named.so")
    run("gcc", "-g", "-O1", "-fPIC", "-fno-ipa-icf", "-x", "c", "-c", "-", "-o", unlinked,
        text="".join(f"int {name}(int x) {{ return x * {i + 3}; }}\n" for i, name in enumerate(names)))
    for name, (linked, _) in names.items():
        run("objcopy", "--redefine-sym", f"{name}={linked}", unlinked)
    run("gcc", "-shared", "-nostdlib", unlinked, "-o", path)
    rows = {line.split()[2]: int(line.split()[0], 16) for line in run("nm", path).splitlines()}
    for name, (linked, shown) in names.items():
        assert shown in look(path, [rows[linked]])[0][0][0], (name, look(path, [rows[linked]]))
    print("ok names of the linker alone")


def refused(folder):
    """What cannot be read is said so in words."""
    unlinked = os.path.join(folder, "unlinked.o")
    run("g++", "-g", "-c", "shop.cc", "-o", unlinked, cwd=folder)
    done = subprocess.run([MIRE, "symbols", "look", unlinked, "0"], capture_output=True, text=True)
    assert done.returncode and "was not linked" in done.stderr, done
    big = os.path.join(folder, "big")
    with open(unlinked, "rb") as file, open(big, "wb") as out:
        data = bytearray(file.read())
        data[5] = 2  # big-endian
        out.write(data)
    done = subprocess.run([MIRE, "symbols", "look", big, "0"], capture_output=True, text=True)
    assert done.returncode and "big-endian" in done.stderr, done
    print("ok refused in words")


def with_dwz(folder, whole):
    """What is in both files moves into a third one, found by its build id."""
    second = build(folder, "second", "g++", "-O2", "-g", "-DOTHER=1")
    run("dwz", "-m", os.path.join(folder, "common"), whole, second)
    note = run("readelf", "-n", os.path.join(folder, "common"))
    build_id = re.search("Build ID: ([0-9a-f]+)", note).group(1)
    place = os.path.join(folder, "dir/.build-id", build_id[:2])
    os.makedirs(place)
    shutil.copy(os.path.join(folder, "common"), os.path.join(place, build_id[2:] + ".debug"))
    check("dwz with a common file", whole, options=("--dir", os.path.join(folder, "dir")), oracle=False)


def compressed(path):
    """A copy of an object of Mach-O whose sections of DWARF are compressed where they lie, as Go's linker does."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    at, count = 32, 0
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        command, size = struct.unpack_from("<II", data, at)
        rows = struct.unpack_from("<I", data, at + 64)[0] if command == 0x19 else 0
        for row in range(at + 72, at + 72 + 80 * rows, 80):
            length, offset = struct.unpack_from("<QI", data, row + 40)
            packed = b"ZLIB" + struct.pack(">Q", length) + zlib.compress(data[offset:offset + length], 9)
            if data[row:row + 8] == b"__debug_" and len(packed) < length:
                data[offset:offset + length] = packed.ljust(length, b"\xff")
                data[row:row + 16] = (b"__z" + data[row + 2:row + 16])[:16]
                struct.pack_into("<Q", data, row + 40, len(packed))
                count += 1
        at += size
    assert count > 2, path
    with open(path + ".packed", "wb") as file:
        file.write(data)
    return path + ".packed"


def macho(folder):
    """An object that is not linked: its addresses are those of its sections."""
    for target in ("x86_64-apple-macos11", "arm64-apple-ios14"):
        for version in "45":
            out = os.path.join(folder, f"{target}{version}.o")
            source = SOURCE.replace("#include <stdlib.h>", 'extern "C" void abort(void);')
            run("clang", "-target", target, "-O2", f"-gdwarf-{version}", "-c", "-x", "c++", "-", "-o", out, text=source,
                stderr=subprocess.DEVNULL)
            chains = look(out, range(0, 200))
            found = [[(short(f), n) for f, _, n in chain] for chain in chains]
            assert any(chain[-1][0] == "main" for chain in found), (target, found)
            assert any([f for f, _ in chain[:2]] == ["innermost", "middle"] for chain in found), (target, found)
            assert look(compressed(out), range(0, 200)) == chains, target
            print("ok Mach-O", target, "DWARF", version)


def records(path):
    """Beginning, size, place of each line of a Breakpad file."""
    files = {}
    for row in open(path, errors="replace"):
        parts = row.rstrip("\n").split(" ")
        if parts[0] == "FILE":
            files[parts[1]] = " ".join(parts[2:])
        elif re.fullmatch("[0-9a-f]+", parts[0]) and len(parts) == 4:
            yield int(parts[0], 16), int(parts[1], 16), f"{os.path.normpath(files[parts[3]])}:{parts[2]}"


def breakpad(sym, path, base):
    rows = list(records(sym))
    for back in (0, 1):  # the first byte of each, and the last
        chains = look(path, [base + low + (size - 1 if back else 0) for low, size, _ in rows])
        for row, chain in zip(rows, chains):
            assert f"{os.path.normpath(chain[0][1])}:{chain[0][2]}" == row[2], (sym, row, chain)
    print("ok", os.path.relpath(sym, DATA), len(rows), "line records")


def publics(sym, path, base):
    rows = [(int(p[1], 16), p[3]) for p in (r.rstrip("\n").split(" ", 3) for r in open(sym) if r.startswith("PUBLIC"))]
    for row, chain in zip(rows, look(path, [base + low for low, _ in rows])):
        assert chain[-1][0].split("(")[0] == row[1].split("(")[0], (path, row, chain)
    print("ok", os.path.relpath(path, DATA), len(rows), "functions")


def slices():
    """UUID -> path and address of __TEXT of each dSYM."""
    found = {}
    for path in glob.glob(DATA + "/ios-crashprobe/dSYMs/*/Contents/Resources/DWARF/*"):
        data, at = open(path, "rb").read(), 32
        for _ in range(struct.unpack_from("<I", data, 16)[0]):
            command, size = struct.unpack_from("<II", data, at)
            if command == 0x1B:
                uuid = data[at + 8 : at + 24].hex().upper()
            if command == 0x19 and data[at + 8 : at + 15] == b"__TEXT\0":
                text = struct.unpack_from("<Q", data, at + 24)[0]
            at += size
        found[uuid] = (path, text)
    return found


def crash_probe():
    known, named = slices(), 0
    for path in sorted(glob.glob(DATA + "/ios-crashprobe/reports/*.json")):
        report = json.load(open(path))
        images = report["debug_meta"]["images"]
        for thread in report["threads"]["values"]:
            top = None
            for i, frame in enumerate(reversed((thread.get("stacktrace") or {}).get("frames", []))):
                at = int(frame["instruction_addr"], 16)
                for image in images:
                    low, uuid = int(image["image_addr"], 16), image["uuid"].replace("-", "")
                    if uuid in known and low <= at < low + image["image_size"]:
                        file, text = known[uuid]
                        chain = look(file, [at - low + text - (4 if i else 0)])[0]
                        assert chain[-1][0] != "??", (path, frame)
                        named, top = named + 1, top or chain[0]
            if thread.get("crashed") and top:  # a smashed stack has none
                assert re.search(r"CRL(Crash|Framele)", top[0]) and re.search("CRL(Crash|Framele)", top[1]), (path, top)
    assert named > 100
    print("ok CrashProbe", named, "frames of the app")


def real_files():
    dsym = DATA + "/macho/crash.dSYM/Contents/Resources/DWARF/crash"
    breakpad(DATA + "/macho/crash.sym", dsym, 0x100000000)
    breakpad(DATA + "/breakpad/crash.inlines.sym", dsym, 0x100000000)
    for name in ("crash", "crash.debug", "crash.debug-zstd"):
        publics(DATA + "/elf/crash.sym", DATA + "/elf/" + name, 0x400000)
    crash_probe()


with tempfile.TemporaryDirectory() as scratch:
    shapes(scratch)
if os.path.isdir(DATA):
    real_files()
else:
    print("not at hand:", DATA, file=sys.stderr)
