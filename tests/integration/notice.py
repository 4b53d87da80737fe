#!/usr/bin/env python3
"""NOTICE names each part of others that the built programs link or carry: shared libraries, objects of libiberty, packages
of the dashboard."""

import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402

SERVER = ("server/mired", "server/mire")
SDK = ("sdk/libmire.so", "sdk/libmire-preload.so", "sdk/mire-run")


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def listed(title):
    """Names of the section of that title, with their kind."""
    text = (mired.SOURCE / "NOTICE").read_text()
    section = re.split(r"\n(?=\S)", text[text.index(f"\n{title}") + 1:])[0]
    return dict(re.findall(r"^  (\S+) +(shared|static|page) ", section, re.M))


def needed(programs):
    found = set()
    for one in programs:
        found |= set(re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", str(mired.BINARY / one))))
    return {name for name in found if not name.startswith(("libasan", "libubsan", "libtsan", "libstdc++", "libgcc_s"))}


def symbols(path):
    """Of each member of an archive, or of a program under the name ''."""
    found, member = {}, ""
    for line in output("nm", "--defined-only", *(["-g"] if path.endswith(".a") else []), path).splitlines():
        if line.endswith(".o:"):
            member = line[:-1]
        elif words := line.split():
            found.setdefault(member, set()).add(words[-1])
    return found


class Notice(unittest.TestCase):
    def test_shared_libraries(self):
        for title, programs in (("Server", SERVER), ("SDK", SDK)):
            told = {name for name, kind in listed(title).items() if kind == "shared"}
            self.assertEqual(told ^ needed(programs), set(), title)

    def test_objects_of_libiberty(self):
        archive = output("cc", "-print-file-name=libiberty.a").strip()
        members, linked = symbols(archive), set()
        for one in SERVER:
            linked |= {name for name, defined in members.items() if defined & symbols(str(mired.BINARY / one))[""]}
        told = {name for name, kind in listed("Server").items() if kind == "static"}
        self.assertEqual(told, {f"libiberty/{name}" for name in linked})

    def test_packages_of_the_dashboard(self):
        lock = json.loads((mired.SOURCE / "web/package-lock.json").read_text())["packages"]
        shipped = {path.removeprefix("node_modules/"): one["license"] for path, one in lock.items()
                   if path and not one.get("dev") and not one.get("optional")}
        text = (mired.SOURCE / "NOTICE").read_text()
        self.assertEqual(set(listed("Dashboard")), set(shipped))
        for name, licence in shipped.items():
            self.assertRegex(text, rf"\n  {re.escape(name)} .*{re.escape(licence)}\n")


if __name__ == "__main__":
    unittest.main(warnings="ignore")
