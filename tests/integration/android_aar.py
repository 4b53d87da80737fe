#!/usr/bin/env python3
"""The AAR as `make aar` builds it: its form beside two published ones, its libraries, its classes, and an app's code against it."""
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
import zipfile

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(os.environ["MIRE_SOURCE_DIR"])
CACHE = SOURCE / "build" / "android"
sys.path.insert(0, str(SOURCE / "tests" / "android"))
import abi

PUBLISHED = ("io.sentry:sentry-native-ndk:0.17.6:aar", "com.facebook.fbjni:fbjni:0.8.1:aar")
SYSTEM = "com.github.zhkl0228:unidbg-android:0.9.8:jar"  # has the libraries of Android 6.0
MACHINES = {"arm64-v8a": "AArch64", "x86_64": "Advanced Micro Devices X86-64"}
MACHINES = {name: MACHINES[name] for name in os.environ.get("ABIS", "arm64-v8a x86_64").split()}  # as the AAR has them
PAGE = 16384


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def fetch(artifact):
    group, name, version, kind = artifact.split(":")
    path = CACHE / f"{name}-{version}.{kind}"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={group}:{name}:{version}:{kind}",
                               f"-DoutputDirectory={CACHE}", "-Dmdep.useBaseVersion=true"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            skip(f"{artifact} cannot be fetched: {done.stdout.strip()[-200:]}")
    return path


def read(path):
    with zipfile.ZipFile(path) as archive:
        return {row.filename: archive.read(row) for row in archive.infolist()}


def form(path):
    """A path with the names of one library left out."""
    path = re.sub(r"(arm64-v8a|armeabi-v7a|x86_64|x86)\b", "ABI", path)
    path = re.sub(r"^prefab/modules/[^/]+/", "prefab/modules/M/", path)
    return re.sub(r"lib[\w+-]+\.so$", "LIB", re.sub(r"(modules/M/include/).+", r"\1H", path))


for tool in ("mvn", "clang-16", "readelf"):
    if not shutil.which(tool):
        skip(f"{tool} is not installed: deploy/need.sh android")
OTHERS = [read(fetch(artifact)) for artifact in PUBLISHED]
SYSTEM_JAR = fetch(SYSTEM)


class AarTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="mire-aar-")
        cls.top = pathlib.Path(cls.scratch.name)
        done = subprocess.run([SOURCE / "sdk/android/aar.py", cls.top / "out"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode == 77:
            skip(done.stdout.strip())
        assert done.returncode == 0, done.stdout
        cls.said = done.stdout
        cls.folder = next((cls.top / "out/dev/mire/mire-android").iterdir())
        cls.name = "mire-android-" + cls.folder.name
        cls.aar = read(cls.folder / (cls.name + ".aar"))
        for path, content in cls.aar.items():
            if not path.endswith("/"):
                (cls.top / "aar" / path).parent.mkdir(parents=True, exist_ok=True)
                (cls.top / "aar" / path).write_bytes(content)
        with zipfile.ZipFile(SYSTEM_JAR) as archive:
            for library in ("libc.so", "libdl.so"):
                archive.extract("android/sdk23/lib64/" + library, cls.top)
        cls.system = cls.top / "android/sdk23/lib64"

    def test_layout_is_that_of_published_ones(self):
        theirs = [{form(path) for path in other} for other in OTHERS]
        ours = {form(path) for path in self.aar}
        self.assertEqual(ours - set.union(*theirs), set())
        self.assertEqual({path for path in set.intersection(*theirs) if not path.startswith("res/")} - ours, set())
        self.assertEqual(list(self.aar), list(dict.fromkeys(self.aar)))
        for path in self.aar:  # each folder stands before the files in it
            if "/" in path.rstrip("/") and not path.startswith("META-INF/"):
                self.assertLess(list(self.aar).index(path.rstrip("/").rsplit("/", 1)[0] + "/"), list(self.aar).index(path))

    def test_prefab_has_the_published_schema(self):
        for name in ("prefab.json", "module.json", "abi.json"):
            theirs = [json.loads(content) for other in OTHERS for path, content in other.items() if path.endswith("/" + name)]
            ours = [json.loads(content) for path, content in self.aar.items() if path.endswith("/" + name)]
            self.assertGreaterEqual(len(ours), 1)
            for one in ours:
                self.assertEqual({key: type(value) for key, value in one.items()}, {key: type(value) for key, value in theirs[0].items()})
        self.assertEqual(json.loads(self.aar["prefab/prefab.json"])["schema_version"], 2)
        keys = [set(re.findall(rb"(?m)^(\w+)=", files["META-INF/com/android/build/gradle/aar-metadata.properties"]))
                for files in (self.aar, OTHERS[1])]
        self.assertEqual(keys[0], keys[1])

    def elf(self, path, *flags):
        return subprocess.run(["readelf", "-W", *flags, self.top / "aar" / path], stdout=subprocess.PIPE, text=True, check=True).stdout

    def test_libraries_load_on_every_device(self):
        for name, machine in MACHINES.items():
            path = f"jni/{name}/libmire.so"
            said, parts = self.elf(path, "-hd"), self.elf(path, "-l")
            self.assertIn(machine, said)
            self.assertEqual(re.findall(r"\(NEEDED\).*\[(.+)\]", said), ["libc.so", "libdl.so"])
            self.assertIn("[libmire.so]", said)
            self.assertRegex(said, r"FLAGS.*BIND_NOW|\(FLAGS_1\).*NOW")
            self.assertNotIn("TEXTREL", said)
            self.assertNotRegex(said, r"\((ANDROID_RELR|RELR)\)")  # not known to Android 6.0, which reads packed ones (ANDROID_RELA)
            aligns = re.findall(r"(?m)^ +LOAD .* (0x\w+)$", parts)
            self.assertGreaterEqual(len(aligns), 2)
            self.assertTrue(all(int(align, 16) >= PAGE for align in aligns), aligns)
            self.assertRegex(parts, r"GNU_RELRO|GNU_EH_FRAME")
            self.assertNotRegex(parts, r"(?m)^ +TLS ")
            ids = [re.findall(r"Build ID: (\w+)", self.elf(file, "-n")) for file in (path, f"prefab/modules/mire/libs/android.{name}/libmire.so")]
            self.assertEqual(len(ids[0]), 1)
            self.assertEqual(ids[0], ids[1])
            self.assertIn(".debug_info", self.elf(f"prefab/modules/mire/libs/android.{name}/libmire.so", "-S"))
            self.assertNotIn(".debug_info", self.elf(path, "-S"))

    def test_every_import_is_in_android_6(self):
        self.assertEqual(abi.faults(self.system), [])
        there = {name for library in ("libc.so", "libdl.so") for name in abi.symbols(self.system / library, "--defined-only")}
        for name in MACHINES:
            wanted = abi.imports(self.top / f"aar/jni/{name}/libmire.so")
            self.assertGreater(len(wanted), 60)
            self.assertEqual(wanted - there, set())

    def test_exports_are_the_c_api_and_the_door_of_java(self):
        api = {line.split("#")[0].strip() for line in (SOURCE / "sdk/exports.txt").read_text().splitlines()} - {""}
        for name in MACHINES:
            self.assertEqual(set(abi.symbols(self.top / f"aar/jni/{name}/libmire.so", "--defined-only")), api | {"JNI_OnLoad"})

    def test_sizes(self):
        self.assertLessEqual(len(self.aar["jni/arm64-v8a/libmire.so"]), 600 * 1024)
        self.assertLessEqual(len(self.aar["classes.jar"]), 80 * 1024)

    def test_classes_are_java_8_and_the_manifest_names_one(self):
        with zipfile.ZipFile(io.BytesIO(self.aar["classes.jar"])) as archive:
            classes = {row.filename: archive.read(row) for row in archive.infolist() if row.filename.endswith(".class")}
        self.assertTrue(all(path.startswith("dev/mire/") for path in classes))
        self.assertEqual({content[:4] + content[6:8] for content in classes.values()}, {b"\xca\xfe\xba\xbe\0\x34"})
        root = xml.fromstring(self.aar["AndroidManifest.xml"])
        space = "{http://schemas.android.com/apk/res/android}"
        self.assertEqual(root.find("uses-sdk").get(space + "minSdkVersion"), "23")
        provider = root.find("application/provider")
        self.assertIn(provider.get(space + "name").replace(".", "/") + ".class", classes)
        self.assertEqual(provider.get(space + "exported"), "false")
        for name in re.findall(r"class ([\w.]+)", self.aar["proguard.txt"].decode()):
            self.assertIn(name.replace(".", "/") + ".class", classes)

    def test_an_app_compiles_and_links_against_it(self):
        """Java against classes.jar, and C++ against the prefab module, as an app's build has them."""
        app = self.top / "app"
        app.mkdir()
        (app / "App.java").write_text("""
            public final class App extends android.app.Application {
                @Override public void onCreate() {
                    int error = dev.mire.Mire.start(this, new dev.mire.MireOptions("https://mire.example.com", "mk_1").channel("gray"));
                    dev.mire.Mire.setTag("error", dev.mire.Mire.errorText(error));
                }
            }""")
        jar = subprocess.run([SOURCE / "tests/android/fetch.sh", "14-robolectric-10818077"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        subprocess.run(["javac", "-nowarn", "--release", "8", "-Xlint:-options", "-cp", f"{self.top}/aar/classes.jar:{jar}", "-d", app, app / "App.java"],
                       check=True, stderr=subprocess.PIPE)
        (app / "decode.cpp").write_text('#include <mire/mire.h>\nextern "C" void app_frame(unsigned long ns) { mire_frame_tick(ns); }\n')
        module = self.top / "aar/prefab/modules/mire"
        for name, target in (("arm64-v8a", "aarch64"), ("x86_64", "x86_64")):
            if name not in MACHINES:
                continue
            out = app / f"libapp-{name}.so"
            subprocess.run(["clang++-16", f"--target={target}-linux-android23", "-nostdlibinc", "-I", module / "include", "-fPIC", "-shared", "-nostdlib",
                            "-fuse-ld=lld-16", "-Wl,-z,defs", "-o", out, app / "decode.cpp", module / f"libs/android.{name}/libmire.so",
                            f"-L{SOURCE}/build/android-abi/{name}/lib"], check=True)
            self.assertIn("mire_frame_tick", abi.imports(out))

    def test_maven_finds_it(self):
        pom = xml.parse(self.folder / (self.name + ".pom")).getroot()
        space = "{http://maven.apache.org/POM/4.0.0}"
        self.assertEqual([pom.find(space + name).text for name in ("groupId", "artifactId", "version", "packaging")],
                         ["dev.mire", "mire-android", self.folder.name, "aar"])
        self.assertIsNone(pom.find(space + "dependencies"))
        sources, pages = read(self.folder / (self.name + "-sources.jar")), read(self.folder / (self.name + "-javadoc.jar"))
        self.assertIn("dev/mire/Mire.java", sources)
        self.assertIn("dev/mire/Mire.html", pages)
        self.assertNotIn("dev/mire/Native.html", pages)


if __name__ == "__main__":
    unittest.main(verbosity=2)
