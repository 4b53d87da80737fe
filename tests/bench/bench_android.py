#!/usr/bin/env python3
"""The cost of watching Android's Looper, on a JVM: a turn bare and watched, the start, a sample of a hang, an idle loop.

Bare and watched runs take turns; each number is the median of five. The JVM is OpenJDK: its interpreter, compilers and stack
walks are not ART's, and the natives of MessageQueue are the test's.
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

SOURCE, BINARY = (pathlib.Path(os.environ[name]) for name in ("MIRE_SOURCE_DIR", "MIRE_BINARY_DIR"))
HERE, OUT = SOURCE / "tests/android", BINARY / "android"
VERSION = "14-robolectric-10818077"
RUNS = 5


def run(classes, jar, how):
    with tempfile.TemporaryDirectory() as store:
        said = subprocess.run(["java", "-Xshare:auto", f"-Djava.library.path={OUT}", "-cp", f"{classes}:{jar}", "Main", OUT / "liblooper.so", "--bench", how,
                               store], stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, "ANDROID_API": "34"}).stdout
    return {name: (int(value), unit) for name, value, unit in map(str.split, said.splitlines())}


def main():
    fetched = subprocess.run([HERE / "fetch.sh", VERSION], stdout=subprocess.PIPE, text=True, check=False)
    if fetched.returncode != 0:
        sys.exit(fetched.stdout)
    jar, classes = fetched.stdout.strip(), OUT / "classes-bench"
    shutil.rmtree(classes, ignore_errors=True)
    sources = [path for folder in (SOURCE / "sdk/android/java", HERE) for path in folder.rglob("*.java")]
    subprocess.run(["javac", "-nowarn", "--release", "8", "-Xlint:-options", "-cp", jar, "-d", classes, *sources], check=True, stderr=subprocess.DEVNULL)
    found = {}
    for _ in range(RUNS):
        for how in ("bare", "mire"):
            for name, (value, unit) in run(classes, jar, how).items():
                found.setdefault((how, name, unit), []).append(value)
    for (how, name, unit), values in found.items():
        print(f"{how:5} {name:11} {statistics.median(values):9.0f} {unit:7} ({min(values)} to {max(values)})")


if __name__ == "__main__":
    main()
