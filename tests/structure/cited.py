#!/usr/bin/python3
"""tests/structure/cited.py - every source file that a comment or a README names exists.

A name is the end of a path of the tree ("ring.h", "ring/ring.h"), a header that the tree includes, or one of FOREIGN. Texts that
only look like names (a placeholder, an example in a test) are not looked at: a name with * < { or NNNN, and tests/unit.
"""

import os
import pathlib
import re
import sys

# Files of systems, compilers and programs that comments name as a source.
FOREIGN = {
    "stack_logging.h", "mach-o/getsect.h", "mach/vm_statistics.h", "linux/magic.h", "malloc/arena.c", "mach-o/compact_unwind_encoding.h",
    "mach-o/dyld_images.h", "include/uapi/asm-generic/unistd.h", "elf.h", "mach/i386/_structs.h", "malloc/malloc.h", "mach-o/loader.h",
    "mach-o/nlist.h", "cmocka.h",
    "src/cart.c", "new.c", "db.c",  # of an app, in examples
}
NAMED = re.compile(r"(?<![\w.<{/*-])((?:[\w-]+/)*[A-Za-z][\w-]*\.(?:c|h|py|sql|mjs|tsx?|sh))\b(?![\w(/])")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
FOLDERS = ("sdk", "server", "schema", "web/src", "web/tests", "deploy", "tests", "docs", "cmake")
SKIP = re.compile(r"^(sdk/android/abi/bionic\.h|tests/unit/|tests/fuzz/corpus/|docs/zh/)|/(node_modules|target)/|NNNN")


def tree():
    yield from pathlib.Path("web").glob("*.ts")
    for folder in FOLDERS:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.is_file() and "node_modules" not in path.parts:
                yield path


def main():
    os.chdir(os.environ.get("MIRE_SOURCE_DIR") or pathlib.Path(__file__).parents[2])
    known, texts = set(FOREIGN), []
    for path in tree():
        known.update("/".join(path.parts[i:]) for i in range(len(path.parts)))
        if path.suffix in (".c", ".h", ".md") and not SKIP.search(str(path)):
            text = path.read_text(errors="replace")
            known.update(re.findall(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", text, re.M))
            texts.append((path, text))
    faults = 0
    for path, text in texts:
        spans = [(0, text)] if path.suffix == ".md" else [(m.start(), m.group()) for m in COMMENT.finditer(text)]
        for start, span in spans:
            for name in NAMED.finditer(span):
                if name[1] not in known and "NNNN" not in name[1]:
                    print(f"{path}:{text.count(chr(10), 0, start + name.start()) + 1}: names {name[1]}, which does not exist")
                    faults += 1
    return faults > 0


if __name__ == "__main__":
    sys.exit(main())
