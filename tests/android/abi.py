#!/usr/bin/env python3
"""tests/android/abi.py - sdk/android/abi beside the libraries of Android 6.0: every name exists there, and no system call of the
library ends an app. Prints faults; tests/integration/android_aar.py runs it.
"""
import pathlib
import re
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ABI = SOURCE / "sdk" / "android" / "abi"
# Calls that no Android before 10, or none at all, lets an app make, and why no app makes them.
ASKED_FIRST = {"close_range": ["apart.c"],  # under `mire run` alone
               "membarrier": ["platform_android.c", "platform_linux.c"], "set_robust_list": ["platform_linux.c"]}


def names():
    """{kind: names} of bionic.txt: header, call, libc, libdl."""
    found = {}
    for line in (ABI / "bionic.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            kind, *words = line.split()
            found.setdefault(kind, []).extend(words)
    return found


def symbols(path, *flags):
    said = subprocess.run(["nm", "-D", *flags, path], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0]: line.split()[-2] for line in said.splitlines()}


def faults(system):
    """system: the folder of Android 6.0's lib64."""
    known, found = names(), []
    there = {name for library in ("libc", "libdl") for name in symbols(system / (library + ".so"), "--defined-only")}
    found += [f"bionic.txt: {name} is not in Android 6.0" for kind in ("libc", "libdl") for name in known[kind] if name not in there]
    for path in sorted(path for path in (SOURCE / "sdk").rglob("*.c") if "preload" not in path.parts):
        for call in re.findall(r"syscall\(\s*SYS_(\w+)", path.read_text()):
            if call not in known["call"] and path.name not in ASKED_FIRST.get(call, []):
                found.append(f"{path.relative_to(SOURCE)}: {call} is no system call that an app may make (bionic.txt)")
    return found


def imports(library):
    """Names that a library needs of the system; weak ones may be absent."""
    return {name for name, kind in symbols(library, "--undefined-only").items() if kind == "U"}
