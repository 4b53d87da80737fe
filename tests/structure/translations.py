#!/usr/bin/env python3
"""A Chinese page has the parts of its English page: the same levels of headings, blocks of code, tables and pictures, in the same order. So
a part that is added, moved or deleted in one language is missing in the other. A link to another page's heading leads to one that is
there in the reader's language."""

import os
import pathlib
import re
import sys

DOCS = pathlib.Path(os.environ.get("MIRE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2])) / "docs"


def parts(text):
    """'##' of a heading, '```c' of a block of code, 'table of 3' columns, '![]' of a picture."""
    found, in_code, in_table = [], False, False
    for line in text.splitlines():
        is_row = not in_code and line.startswith("|")
        if line.startswith("```"):
            in_code = not in_code
            if in_code:
                found.append(line.strip())
        elif not in_code and (heading := re.match(r"#+ ", line)):
            found.append(heading[0].strip())
        elif is_row and not in_table:
            found.append("table of %d" % (len(re.sub(r"\\\||`[^`]*`", "", line).split("|")) - 2))
        elif not in_code and line.startswith("!["):
            found.append("![]")
        in_table = is_row
    return found


def slugs(text):
    """The anchors of a page's headings, as web/docs.ts makes them."""
    text = re.sub(r"(?ms)^```.*?^```", "", text)
    plain = [re.sub(r"[`*|#]", " ", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", one)).strip() for one in re.findall(r"(?m)^#+ (.+)$", text)]
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", " ".join(one.split()).lower()).strip()) for one in plain}


def faults():
    for chinese in sorted((DOCS / "zh").glob("*.md")):
        english, text = DOCS / chinese.name, chinese.read_text()
        if not english.exists():
            yield f"docs/zh/{chinese.name}: there is no docs/{chinese.name}"
            continue
        want, have = parts(english.read_text()), parts(text)
        at = next((i for i, (a, b) in enumerate(zip(want, have)) if a != b), min(len(want), len(have)))
        if want != have:
            yield (f"docs/zh/{chinese.name}: part {at + 1} is {have[at] if at < len(have) else 'missing'}; docs/{chinese.name} has "
                   f"{want[at] if at < len(want) else 'none'} there")
        for path, anchor in re.findall(r"\]\(([^)#\s]*)#([^)]+)\)", text):
            name = pathlib.PurePosixPath(path).name or chinese.name
            shown = chinese.with_name(name) if chinese.with_name(name).exists() else DOCS / name
            if shown.exists() and anchor not in slugs(shown.read_text()):
                yield f"docs/zh/{chinese.name}: no heading of {shown.relative_to(DOCS.parent)} is #{anchor}"


if __name__ == "__main__":
    found = list(faults())
    print(*found, sep="\n")
    sys.exit(1 if found else 0)
