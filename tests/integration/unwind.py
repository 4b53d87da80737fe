#!/usr/bin/env python3
"""integration/unwind - the SDK's unwinder and gdb find the same frames in the same stopped programs.

gdb stops a program again and again (tests/support/gdb_compare.py) and hands its registers to tests/support/unwind_probe,
which is the SDK's unwinder reading that program. Every frame must be the same, down to the thread's first one. Threads
that sleep in the kernel are compared once more with what /proc tells of them: the stack pointer alone. After each stop
follow single instructions, so that the beginnings and ends of functions and the linkage table are met as well.

Skipped where there is no gdb, or no permission to stop another program.
"""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT, BUILD = os.environ["MIRE_SOURCE_DIR"], os.environ["MIRE_BINARY_DIR"]
PROGRAMS = os.path.join(BUILD, "tests/unit/sdk")
SKIP = 77
ROUNDS, STEPS = 5, 20
PLACES = ["fp", "cfi", "clock", "signal", "altstack", "sort", "sleep", "lock", "plt", "wild", "tail"]

PYTHON = """
import json, re
print("there", flush=True)
def deep(n):
    return sorted([deep(n - 1) if n else re.sub("a+b", "c", json.dumps({"k": list(range(50))}) * 20) for _ in range(2)])
while True:
    deep(3)
"""
SQLITE = """select 'there';
with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000000)
select max(length(printf('%d %s', i, hex(randomblob(8))))) from n group by i % 100 order by 1;
"""


def start(command, stdin=None):
    """Start a program and wait until it says that it is where it should be."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if stdin:
        process.stdin.write(stdin)
        process.stdin.close()
    for line in process.stdout:
        if "there" in line or "ready to accept" in line:
            return process
    raise SystemExit(f"{command[0]} did not start")


def programs(scratch):
    for place in PLACES:
        yield place, [os.path.join(PROGRAMS, "places"), place], None
    yield "python3", [sys.executable, "-c", PYTHON], None
    if shutil.which("sqlite3"):
        yield "sqlite3", ["stdbuf", "-o0", "sqlite3", ":memory:"], SQLITE
    if shutil.which("redis-server"):
        yield "redis", ["redis-server", "--port", "0", "--unixsocket", f"{scratch}/redis", "--save", "", "--dir", scratch], None


def load(name, scratch):
    """Give a server something to do while it is looked at."""
    if name != "redis":
        return None
    return subprocess.Popen(["redis-benchmark", "-s", f"{scratch}/redis", "-l", "-q", "-P", "50", "-t", "set,lrange_100,mset"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def compare(pid):
    environment = dict(os.environ, MIRE_PROBE=os.path.join(PROGRAMS, "unwind_probe"), MIRE_ROUNDS=str(ROUNDS),
                       MIRE_STEPS=str(STEPS))
    return subprocess.run(["gdb", "-nx", "-q", "-batch", "-p", str(pid), "-x", f"{ROOT}/tests/support/gdb_compare.py"],
                          env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=300).stdout


def main():
    if not shutil.which("gdb"):
        print("no gdb")
        return SKIP
    failed = 0
    with tempfile.TemporaryDirectory(prefix="mire-unwind-") as scratch:
        for name, command, stdin in programs(scratch):
            process = start(command, stdin)
            busy = load(name, scratch)
            try:
                said = compare(process.pid)
            finally:
                for child in filter(None, [busy, process]):
                    child.kill()
                    child.wait()
            if "Operation not permitted" in said:
                print("gdb may not stop other programs here")
                return SKIP
            rounds = [line for line in said.split("\n") if line.startswith("round ")]
            same = sum("same" in line and "differs" not in line for line in rounds)
            print(f"{name}: {same} of {len(rounds)} stacks are gdb's")
            if same < len(rounds) or len(rounds) < ROUNDS:
                print(said)
                failed = 1
    return failed


sys.exit(main())
