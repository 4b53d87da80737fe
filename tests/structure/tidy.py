#!/usr/bin/python3
"""tests/structure/tidy.py BUILD - clang-tidy over every C file of the project that BUILD compiles, with the checks of .clang-tidy.

A file is looked at once, however often it is compiled, and again only when it, what it includes or the checks have changed since
it was found clean.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()
STATE = BUILD / "tidy"
CHECKS = (SOURCE / ".clang-tidy", pathlib.Path(__file__).resolve())
GCC_ONLY = {"-fno-ipa-icf"}  # clang does not know it


def commands():
    """One of its commands for each file, largest first: none of those is left for the end."""
    found = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if path.suffix == ".c" and not path.is_relative_to(BUILD):
            found.setdefault(path, entry)
            entry["command"] = " ".join(word for word in entry["command"].split(" ") if word not in GCC_ONLY)
    return dict(sorted(found.items(), key=lambda item: -item[0].stat().st_size))


def changed():
    """For each file that was compiled, when what it is made of last changed, in nanoseconds."""
    times, block, known = {}, [], {}
    said = subprocess.run(["ninja", "-C", BUILD, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    for line in said.splitlines() + [""]:
        if line.startswith("    "):
            block.append(BUILD / line.strip())
            continue
        if block and not line:
            for path in block:
                if path not in known:
                    known[path] = path.stat().st_mtime_ns if path.exists() else 1 << 63
            times[block[0]] = max(known[path] for path in block)
        block = []
    return times


def mark(path):
    return STATE / "clean" / str(path.relative_to(SOURCE)).replace("/", "%")


def is_clean(path, times, checks_ns):
    file = mark(path)
    return path in times and file.exists() and file.stat().st_mtime_ns > max(times[path], checks_ns)


def look(path):
    """Prints what is found. True: nothing."""
    begun = (STATE / "begun").stat().st_mtime_ns
    done = subprocess.run(["clang-tidy-14", "--quiet", "-p", STATE, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print(done.stdout or done.stderr, flush=True)
        return False
    mark(path).touch()
    os.utime(mark(path), ns=(begun, begun))
    return True


def main():
    (STATE / "clean").mkdir(parents=True, exist_ok=True)
    (STATE / "begun").touch()
    files = commands()
    (STATE / "compile_commands.json").write_text(json.dumps(list(files.values())))
    times, checks_ns = changed(), max(path.stat().st_mtime_ns for path in CHECKS)
    left = [path for path in files if not is_clean(path, times, checks_ns)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bad = [path for path, good in zip(left, pool.map(look, left)) if not good]
    print(f"clang-tidy: {len(files) - len(bad)} of {len(files)} files without a finding, {len(left)} of them looked at now")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
