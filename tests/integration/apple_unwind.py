#!/usr/bin/env python3
"""The unwinder on Mach-O images: its tables beside llvm-objdump's, and its stacks at each instruction of a run, on x86-64 and,
under qemu-user, on ARM. The images are made here, and by Apple's compiler (tests/apple/wheels.sh).

    apple_unwind.py [FILE...]    tables of further Mach-O files: libraries, or wheels and other archives of zip that hold them
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(os.environ["MIRE_SOURCE_DIR"])
BINARY = pathlib.Path(os.environ["MIRE_BINARY_DIR"])
STEP = next(BINARY.rglob("apple_step"))
FILES, sys.argv[1:] = sys.argv[1:], []

# How the subject is compiled: frames by frame pointer, without one, and as a debugger likes it. Apple's ABI for ARM has a
# frame pointer in each function that calls another; its compiler moves repeated code of small programs into functions.
WAYS = {
    "x86_64": {
        "frames": ["-O2", "-fno-omit-frame-pointer"],
        "frameless": ["-O2", "-fomit-frame-pointer", "-momit-leaf-frame-pointer"],
        "small": ["-Os", "-fomit-frame-pointer"],
        "plain": ["-O0"],
    },
    "arm64": {
        "frames": ["-O2", "-fno-omit-frame-pointer"],
        "leaves": ["-O2", "-fno-omit-frame-pointer", "-momit-leaf-frame-pointer"],
        "small": ["-Oz", "-fno-omit-frame-pointer", "-momit-leaf-frame-pointer", "-moutline"],
        "plain": ["-O0"],
    },
}
TARGETS = {"x86_64": "x86_64-apple-macos11", "arm64": "arm64-apple-ios14"}
PLATFORMS = {"x86_64": ["macos", "11.0", "15.0"], "arm64": ["ios", "14.0", "18.0"]}
ROUNDS = 24
PACKED_BYTES = {"x86_64": 20000, "arm64": 8000}
ARM_COMPILER, ARM_EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64-static"


def tool(name):
    return shutil.which(name + "-14") or shutil.which(name) or name


# lld 14 ends the table after the first of the last neighbours with one encoding: this function has its own.
LAST = "unsigned long last(unsigned long n) { volatile unsigned long room[21]; room[n % 21] = n; return room[3]; }"


def compile_to(item, arch, flags, source, text=None, language="c"):
    subprocess.run([tool("clang"), "-target", TARGETS[arch], *flags, "-ffreestanding", "-fno-stack-protector",
                    "-fno-builtin", "-funwind-tables", "-fno-asynchronous-unwind-tables", "-c", "-x", language, source, "-o", item],
                   input=text, text=True, check=True)
    return item


def build(folder, arch, way):
    out = folder / f"{arch}-{way}.dylib"
    items = [compile_to(folder / f"{arch}-{way}.o", arch, WAYS[arch][way], SOURCE / "tests" / "apple" / "subject.c"),
             compile_to(folder / f"{arch}-last.o", arch, ["-O2", "-fomit-frame-pointer", "-mno-red-zone"], "-", LAST)]
    subprocess.run([tool("ld64.lld"), "-dylib", "-arch", arch, "-platform_version", *PLATFORMS[arch], "-undefined",
                    "dynamic_lookup", "-o", out, *items], check=True)
    return out


def ours(path):
    text = subprocess.run([STEP, "table", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {tuple(int(part, 16) for part in line.split()) for line in text.splitlines()}


def theirs(path, arch=None):
    command = [tool("llvm-objdump"), "--macho", "--unwind-info", *(["--arch", arch] if arch else []), path]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    found = re.findall(r"function offset=0x([0-9a-f]+), encoding(?:\[\d+\])?=0x([0-9a-f]+)", text)
    return {(int(offset, 16), int(encoding, 16)) for offset, encoding in found}


def fetch_wheels():
    done = subprocess.run([SOURCE / "tests" / "apple" / "wheels.sh"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == 77:
        raise unittest.SkipTest(done.stdout.strip())
    return pathlib.Path(done.stdout.strip())


def steppers(folder):
    """The processors whose code runs here, and the program that steps through it."""
    if os.uname().machine == "x86_64":
        yield "x86_64", [STEP]
    if not shutil.which(ARM_COMPILER) or not shutil.which(ARM_EMULATOR):
        print("not under qemu-user: deploy/need.sh aarch64")
        return
    parts = [path for part in ("unwind", "platform") for path in sorted((SOURCE / "sdk" / "src" / part).glob("*.c"))
             if not re.search(r"_(apple|android|key)$|^(arch|code)_x86_64", path.stem)]
    program = folder / "step-arm64"
    subprocess.run([ARM_COMPILER, "-std=gnu11", "-O1", "-g", "-D_GNU_SOURCE", "-static", "-ffunction-sections", "-Wl,--gc-sections", "-o", program,
                    *(f"-I{SOURCE}/{part}" for part in ("sdk/src", "sdk/include", "sdk", "tests")), SOURCE / "tests/apple/step.c",
                    SOURCE / "tests/apple/macho.c", SOURCE / "sdk/src/base/alloc.c", *parts, "-Wl,--no-warnings"], check=True)
    yield "arm64", [ARM_EMULATOR, program]


def macho_files(folder, files):
    """Files, with the members of archives."""
    for name in files:
        if not zipfile.is_zipfile(name):
            yield pathlib.Path(name)
            continue
        with zipfile.ZipFile(name) as archive:
            for member in archive.namelist():
                if member.endswith((".so", ".dylib")):
                    yield pathlib.Path(archive.extract(member, folder / pathlib.Path(name).stem))


class Unwind(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.kept.name)

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def test_tables_are_those_of_llvm(self):
        total = 0
        for arch in TARGETS:
            for way in WAYS[arch]:
                with self.subTest(arch=arch, way=way):
                    path = build(self.folder, arch, way)
                    wanted = theirs(path)
                    total += len(wanted)
                    self.assertEqual(ours(path), wanted)
        self.assertGreater(total, 40)  # neighbours of one encoding are one entry

    def test_tables_of_apples_compiler_are_those_of_llvm(self):
        total = 0
        for path in macho_files(self.folder, FILES or sorted(fetch_wheels().glob("*.whl"))):
            with self.subTest(path=path.name):
                wanted = theirs(path)
                self.assertEqual(ours(path), wanted)
                total += len(wanted)
        print(total, "functions")
        self.assertGreater(total, 0 if FILES else 7000)

    def step(self, stepper, *words):
        done = subprocess.run([*stepper, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        steps, depth, wrong = map(int, done.stdout.split())
        print(words[0], f"{steps} instructions, {depth} calls deep, {wrong} wrong")
        self.assertGreater(steps, 5000)
        return steps, depth, wrong, done.stderr

    def test_every_instruction_has_its_stack(self):
        for arch, stepper in steppers(self.folder):
            for way in WAYS[arch]:
                with self.subTest(arch=arch, way=way):
                    steps, depth, wrong, said = self.step(stepper, "run", build(self.folder, arch, way), ROUNDS)
                    self.assertGreater(depth, 4)
                    self.assertEqual(wrong, 0, said)

    def test_code_of_apples_compiler_has_its_stack(self):
        wheels = {"x86_64": "lz4-*x86_64.whl", "arm64": "lz4-*macosx*arm64.whl"}
        for arch, stepper in steppers(self.folder):
            with self.subTest(arch=arch):
                path = next(path for path in macho_files(self.folder, fetch_wheels().glob(wheels[arch])) if path.name.startswith("_block"))
                steps, depth, wrong, said = self.step(stepper, "pack", path, PACKED_BYTES[arch])
                self.assertEqual(wrong, 0, said)


if __name__ == "__main__":
    unittest.main()
