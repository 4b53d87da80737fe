#!/usr/bin/env python3
"""deploy/android/mire.gradle in Groovy, as Gradle evaluates it, on doubles of Gradle's model (tests/android/gradle.groovy)."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["MIRE_SOURCE_DIR"])
CACHE = SOURCE / "build" / "android"
VERSION = "4.0.24"  # of Groovy; Gradle 9 has 4
SERVER = {"MIRE_SERVER": "http://127.0.0.1:1", "MIRE_KEY": "mk_1"}


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def fetch():
    path = CACHE / f"groovy-{VERSION}.jar"
    for tool in ("java", "mvn"):
        if not shutil.which(tool):
            skip(f"{tool} is not installed: deploy/need.sh test android")
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact=org.apache.groovy:groovy:{VERSION}", f"-DoutputDirectory={CACHE}",
                               "-Dmdep.useBaseVersion=true"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            skip(f"Groovy cannot be fetched: {done.stdout.strip()[-200:]}")
    return path


class Gradle(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="mire-gradle-")
        self.addCleanup(scratch.cleanup)
        self.build = pathlib.Path(scratch.name, "build")
        self.build.mkdir()
        self.mire = pathlib.Path(scratch.name, "mire")  # says what it is asked for
        self.mire.write_text('#!/bin/sh\nprintf "%s|" "$@"\necho\n')
        self.mire.chmod(0o755)

    def run_task(self, task, **env):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MIRE")} | {"MIRE": str(self.mire)} | env
        return subprocess.run(["java", "-XX:TieredStopAtLevel=1", "-cp", GROOVY, "groovy.ui.GroovyMain", SOURCE / "tests/android/gradle.groovy",
                               SOURCE / "deploy/android/mire.gradle", self.build, task], env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout

    def test_a_release_sends_its_mapping_and_libraries(self):
        mapping = self.build / "outputs/mapping/playRelease/mapping.txt"
        libraries = self.build / "intermediates/merged_native_libs/playRelease"
        mapping.parent.mkdir(parents=True)
        mapping.write_text("a.B -> a.a:\n")
        self.assertEqual(self.run_task("assemblePlayRelease", **SERVER).splitlines(),
                         ["assemblePlayRelease", "uploadPlayReleaseToMire", f"symbols|upload|--version|8.0.38|--build|380|{mapping}|"])
        libraries.mkdir(parents=True)
        self.assertIn(f"{mapping}|{libraries}|", self.run_task("bundlePlayRelease", **SERVER))

    def test_nothing_is_sent_otherwise(self):
        self.assertEqual(self.run_task("assemblePlayDebug", **SERVER), "assemblePlayDebug\n")
        self.assertEqual(self.run_task("assemblePlayRelease", MIRE_SERVER=""), "assemblePlayRelease\n")


if __name__ == "__main__":
    GROOVY = fetch()
    unittest.main()
