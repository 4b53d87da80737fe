#!/usr/bin/env python3
"""prove_symbols.py MIRE DIR - are the answers those of llvm-symbolizer-16, at 100,000 random addresses of each file?

DIR is filled by tests/support/debug-files.sh. The oracle reads a copy of the file whose symbol tables it cannot see, so
that every name is DWARF's. An answer is the whole chain: function, file and line of each inlined call and of the function
itself. What is not the same has to be one of the exceptions in the table that is printed; each is checked, not believed:

  no function     the oracle has none there. Mire has none either, or the symbol that nm says covers the address, with the
                  line the oracle has too, if it has one
  symbol's name   the DWARF tells the outermost function's name as in the source only (functions of internal linkage). Mire
                  shows the mangled name that nm has for the function's beginning, and it demangles to the name in the source

Ends with 0 only if nothing is left over.
"""
import bisect
import os
import random
import re
import struct
import subprocess
import sys

FILES = ["libc", "libstdc++", "libpython", "libjvm", "ceph-osd"]
COUNT = int(os.environ.get("COUNT", "100000"))
SEED = int(os.environ.get("SEED", "1"))
SYMTAB, DYNSYM, PROGBITS, EXECINSTR = 2, 11, 1, 4


def sections(data):
    table, count = struct.unpack_from("<Q", data, 0x28)[0], struct.unpack_from("<H", data, 0x3C)[0]
    for i in range(count):
        at = table + 64 * i
        yield (at, *struct.unpack_from("<IIQQQQ", data, at))  # name, type, flags, address, offset, size


def without_symbols(path):
    """A copy in which the symbol tables are just bytes."""
    copy = path + ".nosym"
    with open(path, "rb") as file:
        data = bytearray(file.read())
    for at, _, kind, *_ in list(sections(data)):
        if kind in (SYMTAB, DYNSYM):
            struct.pack_into("<I", data, at + 4, PROGBITS)
    with open(copy, "wb") as file:
        file.write(data)
    return copy


def scatter(path):
    with open(path, "rb") as file:
        data = file.read()
    code = [(row[4], row[6]) for row in sections(data) if row[3] & EXECINSTR and row[6]]
    total = sum(size for _, size in code)
    found = []
    for _ in range(COUNT):
        at = random.randrange(total)
        for address, size in code:
            if at < size:
                found.append(address + at)
                break
            at -= size
    return sorted(found)


def run(command, text):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def chains(text, columns):
    """The blocks of an answer, each a tuple of (function, place)."""
    for block in text.split("\n\n"):
        lines = block.strip("\n").split("\n")
        chain = []
        for function, place in zip(lines[::2], lines[1::2]):
            if columns:
                place = place.rsplit(":", 1)[0]
            chain.append((function, "??:0" if place.startswith("??") else place))
        yield tuple(chain)


def unversioned(name):
    return re.sub("(?<=.)@[A-Z@].*", "", name)


class Symbols:
    def __init__(self, path):
        rows = []
        for line in run(["nm", "-S", "--defined-only", path], "").splitlines():
            parts = line.split()
            if len(parts) == 4 and parts[2] in "tTwWiuV":
                rows.append((int(parts[0], 16), int(parts[1], 16), unversioned(parts[3])))
            elif len(parts) == 3 and parts[1] in "tTwW":
                rows.append((int(parts[0], 16), 1 << 62, unversioned(parts[2])))
        rows.sort()
        self.lows = [row[0] for row in rows]
        self.rows = rows
        self.names = {row[2] for row in rows}

    def covers(self, address, name):
        i = bisect.bisect_right(self.lows, address)
        return any(low + size > address and text == name for low, size, text in self.rows[max(0, i - 400):i])


def demangled(names):
    names = sorted(names)
    shown = run(["c++filt"], "\n".join(names) + "\n").splitlines()
    return dict(zip(names, shown))


def explain(address, theirs, ours, symbols):
    if theirs == ours:
        return "same"
    unknown = not theirs or (len(theirs) == 1 and theirs[0][0] == "??")
    if unknown:
        if ours == (("??", "??:0"),):
            return "no function"
        line_good = len(ours) == 1 and ours[0][1] in (theirs[0][1] if theirs else "??:0", "??:0")
        return "no function" if line_good and symbols.covers(address, ours[0][0]) else None
    if len(theirs) == len(ours) and theirs[:-1] == ours[:-1] and theirs[-1][1] == ours[-1][1]:
        if re.match("_[ZR]", ours[-1][0]) and not re.match("_[ZR]", theirs[-1][0]) and ours[-1][0] in symbols.names:
            return "symbol's name"
    return None


def prove(mire, path):
    addresses = scatter(path)
    text = "".join(f"0x{address:x}\n" for address in addresses)
    copy = without_symbols(path)
    oracle = run(["llvm-symbolizer-16", "--inlines", "--functions=linkage", "--no-demangle", "--obj=" + copy], text)
    os.unlink(copy)
    answers = run([mire, "symbols", "look", "--mangled", path], text)
    symbols = Symbols(path)
    counts = {"same": 0, "no function": 0, "symbol's name": 0, None: 0}
    renamed = {}
    for address, theirs, ours in zip(addresses, chains(oracle, True), chains(answers, False)):
        why = explain(address, theirs, ours, symbols)
        if why == "symbol's name":
            renamed.setdefault(ours[-1][0], set()).add(theirs[-1][0])
        counts[why] += 1
        if why is None and counts[None] <= 5:
            print(f"0x{address:x}\n  oracle {theirs}\n  mire   {ours}", file=sys.stderr)
    shown = demangled(renamed)
    for name, sources in renamed.items():
        for source in sources:
            if re.sub("<.*", "", source) not in shown[name]:
                counts[None] += 1
                print(f"{name} is shown for {source}", file=sys.stderr)
    print(f"{os.path.basename(path):10}" + "".join(f"{counts[why]:15}" for why in counts), flush=True)
    return counts[None]


def main():
    mire, folder = sys.argv[1:]
    random.seed(SEED)
    print(f"seed {SEED}\n{'file':10}{'same':>15}{'no function':>15}{'symbol s name':>15}{'WRONG':>15}")
    wrong = sum(prove(mire, os.path.join(folder, name)) for name in FILES)
    sys.exit(1 if wrong else 0)


main()
