#!/usr/bin/env python3
"""sdk/android/aar.py [OUT] - dev.mire:mire-android as a Maven repository in OUT (build/aar): AAR, POM, sources and javadoc.

No Gradle, and no network beyond the package registries. With $ANDROID_NDK the NDK there builds libmire; without it Debian's
clang does, against our own headers of Android's C library (cmake/android.cmake). $ABIS names the processors: "arm64-v8a x86_64".
The same sources in the same folder give the same bytes. Status 77: something cannot be had, and what.
"""
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
HERE = SOURCE / "sdk" / "android"
BUILD = SOURCE / "build"
NDK = os.environ.get("ANDROID_NDK")
VERSION = re.search(r"project\(mire VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
NAME = f"mire-android-{VERSION}"
ABIS = os.environ.get("ABIS", "arm64-v8a x86_64").split()
API = 23
CLASS_PATH = "14-robolectric-10818077"  # the framework that the classes are compiled against: API level 34
JOBS = os.environ.get("JOBS", str(os.cpu_count()))


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    if done.returncode == 77:
        skip(done.stdout.strip())
    if done.returncode != 0:
        sys.exit(f"{words[0]} failed:\n{done.stdout}")
    return done.stdout


def toolchain():
    """CMake's file, and the major version of the NDK whose headers were used: prefab's build wants a number."""
    if not NDK:
        for tool in ("clang-16", "ld.lld-16", "llvm-strip-16"):
            if not shutil.which(tool):
                skip(f"{tool} is not installed: deploy/need.sh android")
        return SOURCE / "cmake" / "android.cmake", 27
    said = (pathlib.Path(NDK) / "source.properties").read_text()
    return pathlib.Path(NDK) / "build/cmake/android.toolchain.cmake", int(re.search(r"Pkg\.Revision\s*=\s*(\d+)", said)[1])


def build_library(abi, file):
    """The library with debug information, and without."""
    folder = BUILD / ("android-" + abi)
    run("cmake", "-G", "Ninja", "-S", SOURCE, "-B", folder, f"-DCMAKE_TOOLCHAIN_FILE={file}", f"-DANDROID_ABI={abi}",
        f"-DANDROID_PLATFORM=android-{API}", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DMIRE_WERROR=ON",
        f"-DCMAKE_C_COMPILER_LAUNCHER={os.environ.get('CMAKE_C_COMPILER_LAUNCHER', '')}")
    run("cmake", "--build", folder, "-j", JOBS, "--target", "mire_android")
    whole = folder / "android" / "libmire.so"
    strip = re.search(r"^CMAKE_STRIP:\w+=(.+)$", (folder / "CMakeCache.txt").read_text(), re.M)[1]
    run(strip, "--strip-unneeded", "-o", folder / "libmire.stripped.so", whole)
    return whole.read_bytes(), (folder / "libmire.stripped.so").read_bytes()


def zipped(files):
    """An archive of these {path: bytes}; equal ones for equal files. Folders come first, as in archives of others."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            row = zipfile.ZipInfo(path, (1980, 2, 1, 0, 0, 0))
            row.external_attr = (0o40755 << 16 | 0x10) if path.endswith("/") else 0o100644 << 16
            row.compress_type = zipfile.ZIP_STORED if path.endswith("/") else zipfile.ZIP_DEFLATED
            archive.writestr(row, content)
    return out.getvalue()


def with_folders(files):
    """A row for each folder, but not below META-INF, as in archives of others."""
    whole = {}
    for path, content in files.items():
        parts = path.split("/") if not path.startswith("META-INF/") else []
        for i in range(1, len(parts)):
            whole.setdefault("/".join(parts[:i]) + "/", b"")
        whole[path] = content
    return whole


def tree(folder, pattern, prefix=""):
    return {prefix + str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob(pattern)) if path.is_file()}


def java(jar):
    """classes.jar for Java 8, and the jar of the documentation."""
    sources = sorted((HERE / "java").rglob("*.java"))
    classes, pages = BUILD / "aar-classes", BUILD / "aar-javadoc"
    for folder in (classes, pages):
        shutil.rmtree(folder, ignore_errors=True)
    run("javac", "-nowarn", "-Xlint:-options", "-g:source,lines", "--release", "8", "-encoding", "UTF-8", "-cp", jar, "-d", classes, *sources)
    run("javadoc", "-quiet", "-Xdoclint:none", "-notimestamp", "--release", "8", "-encoding", "UTF-8", "-cp", jar, "-d", pages, *sources)
    return zipped(with_folders(tree(classes, "*.class"))), zipped(with_folders(tree(pages, "*")))


def prefab(libraries, ndk):
    module = "prefab/modules/mire"
    files = {"prefab/prefab.json": {"name": "mire-android", "schema_version": 2, "dependencies": [], "version": VERSION},
             module + "/module.json": {"export_libraries": [], "android": {}}}
    files = {path: json.dumps(content, indent=2).encode() for path, content in files.items()}
    files.update({f"{module}/include/mire/{path.name}": path.read_bytes() for path in sorted((SOURCE / "sdk/include/mire").glob("*.h"))
                  if path.name not in ("glib.h", "uv.h")})
    for abi, (whole, _) in libraries.items():
        files[f"{module}/libs/android.{abi}/abi.json"] = json.dumps(
            {"abi": abi, "api": API, "ndk": ndk, "stl": "none", "static": False}, indent=2).encode()
        files[f"{module}/libs/android.{abi}/libmire.so"] = whole
    return files


def metadata():
    return (b"aarFormatVersion=1.0\naarMetadataVersion=1.0\nminCompileSdk=24\nminCompileSdkExtension=0\n"
            b"minAndroidGradlePluginVersion=1.0.0\ncoreLibraryDesugaringEnabled=false\n")


def pom():
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xsi:schemaLocation="http://maven.apache.org/POM/4.0.0 http://maven.apache.org/xsd/maven-4.0.0.xsd">
  <modelVersion>4.0.0</modelVersion>
  <groupId>dev.mire</groupId>
  <artifactId>mire-android</artifactId>
  <version>{VERSION}</version>
  <packaging>aar</packaging>
  <name>mire-android</name>
  <description>Finds what makes an app's main thread hang</description>
  <licenses>
    <license>
      <name>Apache-2.0</name>
      <url>https://www.apache.org/licenses/LICENSE-2.0.txt</url>
    </license>
  </licenses>
</project>
""".encode()


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else BUILD / "aar").resolve() / "dev/mire/mire-android" / VERSION
    file, ndk = toolchain()
    run(HERE / "zstd.sh")
    if not shutil.which("javac"):
        skip("javac is not installed: deploy/need.sh android")
    jar = run(SOURCE / "tests/android/fetch.sh", CLASS_PATH).split()[-1]
    libraries = {abi: build_library(abi, file) for abi in ABIS}
    classes, pages = java(jar)
    files = {"R.txt": b"", "AndroidManifest.xml": (HERE / "aar/AndroidManifest.xml").read_bytes(), "classes.jar": classes,
             "proguard.txt": (HERE / "aar/proguard.txt").read_bytes(),
             "META-INF/com/android/build/gradle/aar-metadata.properties": metadata()}
    files.update({f"jni/{abi}/libmire.so": stripped for abi, (_, stripped) in libraries.items()})
    files.update(prefab(libraries, ndk))
    written = {".aar": zipped(with_folders(files)), ".pom": pom(), "-javadoc.jar": pages,
               "-sources.jar": zipped(with_folders(tree(HERE / "java", "*.java")))}
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for ending, content in written.items():
        (out / (NAME + ending)).write_bytes(content)
        (out / (NAME + ending + ".sha1")).write_text(hashlib.sha1(content).hexdigest())
    sizes = ", ".join(f"libmire.so {abi} {len(stripped)} bytes" for abi, (_, stripped) in libraries.items())
    print(f"{out / (NAME + '.aar')}: {sizes}, classes.jar {len(classes)} bytes")


if __name__ == "__main__":
    main()
