#!/usr/bin/env python3
"""libmire as it is for Apple's systems: compiled and linked for macOS, iOS and its simulator, and its sampler run on a fake kernel.

zig comes from PyPI (deploy/zig.sh); where it cannot be had the test is skipped.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from apple_unwind import build

SOURCE = pathlib.Path(os.environ["MIRE_SOURCE_DIR"])
BINARY = pathlib.Path(os.environ["MIRE_BINARY_DIR"])
OUT = SOURCE / "build" / "apple" / "out"
HOST = BINARY / "tests" / "integration" / "apple_host"
SAMPLES = 2000
WAYS = ("frames", "frameless")


def make_library(*others):
    done = subprocess.run([SOURCE / "deploy" / "apple.py", OUT, "macos-x86_64", *others], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == 77:
        print(done.stdout.strip())
        sys.exit(77)
    assert done.returncode == 0, done.stdout
    return OUT / "macos-x86_64" / "libmire.dylib"


class Host(unittest.TestCase):
    def test_samples_of_running_code_reach_its_caller(self):
        with tempfile.TemporaryDirectory(prefix="mire-apple-") as folder:
            for way in WAYS:
                with self.subTest(way=way):
                    subject = build(pathlib.Path(folder), "x86_64", way)
                    done = subprocess.run([HOST, LIBRARY, subject, str(SAMPLES // len(WAYS))], stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE, text=True, timeout=600, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    inside, reached, silent, longest_ns, suspended = map(int, done.stdout.split())
                    print(f"{way}: {reached} of {inside}, longest stop {longest_ns / 1000:.0f} us")
                    self.assertGreaterEqual(reached, inside * 999 // 1000)
                    self.assertEqual((silent, suspended), (0, 0))
                    self.assertGreater(longest_ns, 0)


if __name__ == "__main__":
    LIBRARY = make_library("macos-arm64", "ios-arm64", "ios-simulator-arm64")
    unittest.main()
