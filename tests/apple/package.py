#!/usr/bin/env python3
"""The package for Apple's systems: its lists of sources are one, its files are there, and its privacy manifest is complete."""
import json
import os
import pathlib
import plistlib
import re
import unittest

ROOT = pathlib.Path(os.environ["MIRE_SOURCE_DIR"])
SDK = ROOT / "sdk"

# Calls for which Apple wants a reason, by the category that the privacy manifest must then have.
REASONS = {"SystemBootTime": r"mach_absolute_time|CLOCK_UPTIME_RAW|CLOCK_MONOTONIC_RAW", "FileTimestamp": r"\bf?l?stat\(|st_mtime",
           "DiskSpace": r"\bf?statv?fs\(", "UserDefaults": r"NSUserDefaults|CFPreferences", "ActiveKeyboards": r"activeInputModes"}


def linux_only():
    return [line for line in (SDK / "apple" / "linux-only.txt").read_text().splitlines() if line and line[0] != "#"]


def shipped():
    left_out = set(linux_only())
    return [path for path in SDK.glob("src/*/*.c") if path.relative_to(SDK / "src").as_posix() not in left_out]


class Package(unittest.TestCase):
    def test_every_list_leaves_out_the_same_files(self):
        names = linux_only()
        self.assertEqual(names, sorted(names))
        for name in names:
            self.assertTrue((SDK / "src" / name).is_file(), name)
        swift = (ROOT / "Package.swift").read_text()
        inside = re.search(r"let linuxOnly = \[(.*?)\]", swift, re.S).group(1)
        self.assertEqual(re.findall(r'"([^"]+)"', inside), names)
        texts = re.search(r"let texts = \[(.*?)\]", swift, re.S).group(1)
        self.assertEqual(re.findall(r'"([^"]+)"', texts), sorted(path.relative_to(SDK).as_posix() for part in ("src", "wire") for path in (SDK / part).rglob("*")
                                                                  if path.is_file() and path.suffix not in (".c", ".h")))
        pod = json.loads((ROOT / "Mire.podspec.json").read_text())
        self.assertEqual([name[len("sdk/src/"):] for name in pod["exclude_files"] if name.startswith("sdk/src/")], names)

    def test_versions_are_one(self):
        version = re.search(r"project\(mire VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
        self.assertEqual(json.loads((ROOT / "Mire.podspec.json").read_text())["version"], version)
        self.assertIn(f'to: "\\"{version}\\""', (ROOT / "Package.swift").read_text())

    def test_an_apple_sibling_is_never_built_elsewhere(self):
        cmake = (SDK / "CMakeLists.txt").read_text()
        self.assertNotIn("_apple.c", cmake)
        for path in SDK.glob("src/*/*.[ch]"):
            if not path.stem.endswith("_apple"):
                self.assertNotRegex(path.read_text(), r"#\s*if.*(__APPLE__|TARGET_OS_)", path.name)

    def test_the_module_has_every_header(self):
        headers = set(re.findall(r'header "([^"]+)"', (SDK / "include" / "module.modulemap").read_text()))
        there = {"mire/" + path.name for path in (SDK / "include" / "mire").glob("*.h")} - {"mire/glib.h", "mire/uv.h"}
        self.assertEqual(headers, there)

    def test_the_privacy_manifest_names_what_is_used(self):
        manifest = plistlib.loads((SDK / "apple" / "PrivacyInfo.xcprivacy").read_bytes())
        named = {entry["NSPrivacyAccessedAPIType"].replace("NSPrivacyAccessedAPICategory", "")
                 for entry in manifest["NSPrivacyAccessedAPITypes"]}
        text = "\n".join(path.read_text() for path in shipped())
        self.assertEqual(named, {category for category, calls in REASONS.items() if re.search(calls, text)})
        self.assertFalse(manifest["NSPrivacyTracking"])


if __name__ == "__main__":
    unittest.main()
