#!/usr/bin/env python3
"""deploy/apple.py OUT [TARGET...] - libmire for Apple's systems, compiled and linked without Xcode, into the folder OUT.

Every source is compiled with each warning an error, for macOS, iOS and its simulator. Each library is then linked against
exactly the names that it may use: those of Apple's libSystem, and those that tests/apple/stub/lib lists. OUT gets
libmire.a for each target and Mire.xcframework. Status 77: a tool cannot be had, and which.
"""
import concurrent.futures
import json
import os
import pathlib
import plistlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STUB = ROOT / "tests" / "apple" / "stub"
VERSION = re.search(r"VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text().splitlines()[1]).group(1)

# zig's name; the linker's architecture and platform, oldest and current system; the xcframework's platform and variant.
TARGETS = {
    "macos-arm64": ("aarch64-macos.11.0", "arm64", "macos", "11.0", "15.5", "macos", None),
    "macos-x86_64": ("x86_64-macos.11.0", "x86_64", "macos", "11.0", "15.5", "macos", None),
    "ios-arm64": ("aarch64-ios.14.0", "arm64", "ios", "14.0", "18.5", "ios", None),
    "ios-simulator-arm64": ("aarch64-ios.14.0-simulator", "arm64", "ios-simulator", "14.0", "18.5", "ios", "simulator"),
    "ios-simulator-x86_64": ("x86_64-ios.14.0-simulator", "x86_64", "ios-simulator", "14.0", "18.5", "ios", "simulator"),
}
SLICES = [["macos-arm64", "macos-x86_64"], ["ios-arm64"], ["ios-simulator-arm64", "ios-simulator-x86_64"]]
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wpointer-arith", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Wformat=2",
            "-Wvla", "-Wunguarded-availability-new", "-Werror"]
FLAGS = ["-std=gnu11", "-O2", "-g", "-fvisibility=hidden", "-funwind-tables", "-fno-asynchronous-unwind-tables",
         "-fno-optimize-sibling-calls", "-fno-sanitize=all", "-D_GNU_SOURCE", "-DMIRE_LOCALS_KEY", f'-DMIRE_VERSION="{VERSION}"',
         *(f"-I{ROOT}/sdk/{part}" for part in ("include", "src", ".")), "-isystem", str(STUB)]


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def tool(name):
    found = shutil.which(name + "-14") or shutil.which(name)
    if not found:
        skip(f"{name} is not installed: deploy/need.sh test")
    return found


def fetch_zig():
    done = subprocess.run([ROOT / "deploy" / "zig.sh"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == 77:
        skip(done.stdout.strip())
    return done.stdout.strip()


def sources():
    """Those of sdk/src, less the ones for Linux alone, and of sdk/wire."""
    text = (ROOT / "sdk" / "apple" / "linux-only.txt").read_text()
    linux = {line for line in text.splitlines() if line and line[0] != "#"}
    inside = [path for path in sorted((ROOT / "sdk" / "src").glob("*/*.c"))
              if path.relative_to(ROOT / "sdk" / "src").as_posix() not in linux]
    return inside + sorted((ROOT / "sdk" / "wire").glob("*.c"))


class Builder:
    def __init__(self, out):
        self.out = out
        self.zig = fetch_zig()
        self.headers = pathlib.Path(self.zig).parent / "lib/libc/include/any-macos-any"
        shared = [pathlib.Path(__file__), *(ROOT / "sdk").rglob("*.h"), *STUB.rglob("*.h")]
        self.common_s = max(path.stat().st_mtime for path in shared)  # an object that is older is compiled again
        self.environment = dict(os.environ, ZIG_GLOBAL_CACHE_DIR=str(ROOT / "build/apple/cache"),
                                ZIG_LOCAL_CACHE_DIR=str(ROOT / "build/apple/cache"))

    def compile(self, target, source):
        part = source.relative_to(ROOT / "sdk")
        item = self.out / target / "objects" / ("-".join(part.parts) + ".o")
        if item.exists() and item.stat().st_mtime > max(self.common_s, source.stat().st_mtime):
            return item, ""
        command = [self.zig, "cc", "-target", TARGETS[target][0], *WARNINGS, *FLAGS]
        if TARGETS[target][2] != "macos":
            command += ["-isystem", str(self.headers)]
        fresh = item.with_suffix(".new")  # a compiler that is killed leaves no object
        done = subprocess.run([*command, "-c", str(source), "-o", str(fresh)], env=self.environment, stderr=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode == 0:
            fresh.replace(item)
        return item, done.stderr if done.returncode else ""

    def compile_all(self, target):
        (self.out / target / "objects").mkdir(parents=True, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda source: self.compile(target, source), sources()))
        problems = [text for _, text in results if text]
        if problems:
            sys.exit(f"{target}:\n" + "\n".join(problems))
        return [item for item, _ in results]

    def system_names(self, target):
        """Apple's libSystem as this target's linker wants it: what macOS 15.5 exports, under the target's name."""
        folder = self.out / target / "system"
        folder.mkdir(exist_ok=True)
        text = (self.headers.parents[1] / "darwin" / "libSystem.tbd").read_text()
        if TARGETS[target][2] != "macos":
            text = text.replace("-macos", "-" + TARGETS[target][2]).replace("-maccatalyst", "-driverkit")
        (folder / "libSystem.tbd").write_text(text)
        return folder

    def build(self, target):
        items = self.compile_all(target)
        library = self.out / target / "libmire.a"
        library.unlink(missing_ok=True)
        subprocess.run([tool("llvm-libtool-darwin"), "-static", "-o", library, *items], check=True)
        _, arch, platform, oldest, current, _, _ = TARGETS[target]
        subprocess.run([tool("ld64.lld"), "-dylib", "-arch", arch, "-platform_version", platform, oldest, current, "-undefined",
                        "error", "-L", self.system_names(target), "-lSystem", "-L", STUB / "lib", "-lobjc", "-lz", "-F",
                        STUB / "lib", "-framework", "CoreFoundation", "-all_load", library, "-install_name",
                        "@rpath/libmire.dylib", "-o", self.out / target / "libmire.dylib"], check=True)
        print(f"{target}: {len(items)} files, {library.stat().st_size >> 10} KiB")

    def unused_names(self, targets):
        """Names that the stubs list and no target uses."""
        used = set()
        for target in targets:
            text = subprocess.run([tool("llvm-nm"), "-u", self.out / target / "libmire.a"], stdout=subprocess.PIPE, text=True,
                                  check=True).stdout
            used |= set(text.split())
        for path in sorted((STUB / "lib").rglob("*.tbd")):
            listed = re.search(r"symbols:\s*\[([^\]]*)\]", path.read_text()).group(1)
            yield from (f"{path.name}: {name}" for name in listed.replace(",", " ").split() if name not in used)

    def framework(self):
        """Mire.xcframework: a library for each kind of system, with the public headers."""
        framework = self.out / "Mire.xcframework"
        shutil.rmtree(framework, ignore_errors=True)
        available = []
        for members in SLICES:
            name = "-".join([members[0].rsplit("-", 1)[0], "_".join(TARGETS[member][1] for member in members)])
            folder = framework / name
            shutil.copytree(ROOT / "sdk" / "include", folder / "Headers", ignore=shutil.ignore_patterns("README.md", "glib.h", "uv.h"))
            subprocess.run([tool("llvm-lipo"), "-create", *(self.out / member / "libmire.a" for member in members), "-output",
                            folder / "libmire.a"], check=True)
            entry = {"LibraryIdentifier": name, "LibraryPath": "libmire.a", "HeadersPath": "Headers", "BinaryPath": "libmire.a",
                     "SupportedArchitectures": [TARGETS[member][1] for member in members],
                     "SupportedPlatform": TARGETS[members[0]][5]}
            if TARGETS[members[0]][6]:
                entry["SupportedPlatformVariant"] = TARGETS[members[0]][6]
            available.append(entry)
        plist = {"AvailableLibraries": available, "CFBundlePackageType": "XFWK", "XCFrameworkFormatVersion": "1.0"}
        (framework / "Info.plist").write_bytes(plistlib.dumps(plist))
        print("Mire.xcframework:", json.dumps([entry["LibraryIdentifier"] for entry in available]))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    builder = Builder(pathlib.Path(sys.argv[1]).resolve())
    targets = sys.argv[2:] or list(TARGETS)
    for target in targets:
        builder.build(target)
    if len(targets) == len(TARGETS):
        unused = list(builder.unused_names(targets))
        if unused:
            sys.exit("no source uses these names, take them out: " + ", ".join(unused))
        builder.framework()


if __name__ == "__main__":
    main()
