#!/usr/bin/env python3
"""perf.py - redis-server computes for some seconds; perf and Mire watch it at the same time. Both say in which of its
functions the time was spent, by the innermost frame and by the whole stack; their shares must agree.

Skipped where perf may not sample. Functions are the nearest exported names, for both."""
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["MIRE_SOURCE_DIR"], "tests/bench"))
from bench_lag import Program, ask, free_port, redis_command
import plan as plans

REDIS = os.path.realpath("/usr/bin/redis-server")
HANG_S, PERF_S, PERF_HZ = 5, 3, 199
APART = 15  # points; some 200 samples on one side: four times what chance makes of a share of 50
STARVED = 0.8 # redis had the processor for less of the time than this: the two counted different parts of it
TRIES = 3
BIG = 20    # functions with less of the time than this, by perf's account, say nothing
WORK = (f"local stop = redis.call('TIME')[1] + {HANG_S} "
        "while redis.call('TIME')[1] + 0 < stop do redis.call('KEYS', '*7*1*') redis.call('SORT', 'list', 'ALPHA', 'LIMIT', '0', '1') end")


class Shares:
    """In how much of the time a function was innermost, and in how much it was on the stack, in percent."""

    def __init__(self, stacks):
        self.all, self.inner, self.whole = 0, collections.Counter(), collections.Counter()
        for weight, names in stacks:
            self.all += weight
            self.inner[names[0]] += weight
            for name in set(names):
                self.whole[name] += weight

    def apart(self, other, what):
        """[(points apart, function, own share, the other's)], the furthest first."""
        mine, theirs = getattr(self, what), getattr(other, what)
        rows = [(100 * mine[name] / self.all, 100 * theirs[name] / other.all, name) for name in mine]
        return sorted(((abs(a - b), name, a, b) for a, b, name in rows if a >= BIG), reverse=True)


def record(pid, path):
    command = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(PERF_HZ), "--call-graph", "dwarf,16384", "-o", path, "-p", str(pid)]
    return subprocess.run([*command, "--", "sleep", str(PERF_S)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def perf_stacks(path, functions):
    """perf shows places in the file; in a program's code they are its addresses."""
    text = subprocess.run(["perf", "script", "-i", path, "-F", "ip,dso", "--no-inline"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=True).stdout
    for block in text.split("\n\n"):
        names = []
        for address, dso in re.findall(r"^\s*([0-9a-f]+) \((.*)\)$", block, re.M):
            if os.path.basename(dso).startswith("redis"):
                names.append(functions.name(int(address, 16)))
            elif not names or names[-1] != "elsewhere":
                names.append("elsewhere")
        if names:
            yield 1, names


def mire_stacks(report, image, functions):
    frames, nodes, samples = report["frames"], report["nodes"], report["event"]["samples"]
    for node, weight in zip(samples["node"], samples["weight_ms"]):
        names = []
        while node > 0:
            frame = nodes["frame"][node - 1]
            if frames["image"][frame] == image:
                names.append(functions.name(frames["offset"][frame]))
            elif not names or names[-1] != "elsewhere":
                names.append("elsewhere")
            node -= nodes["up"][node - 1]
        if names:
            yield weight, names


def attempt():
    """Whether the two agree, and whether redis was starved."""
    with tempfile.TemporaryDirectory(prefix="mire-perf-") as scratch:
        port = free_port()
        os.environ["MIRE_SECOND_LIBC"] = "0"  # perf takes both copies of one file for the lower one (docs/adr/0029)
        program = Program(scratch, *redis_command(port, scratch), options=("--threshold", "500", "--period", "10"))
        ask(port, "CONFIG", "SET", "lua-time-limit", "0")
        ask(port, "DEBUG", "POPULATE", "20000")
        ask(port, "RPUSH", "list", *(f"{random.randrange(10 ** 9)}" for _ in range(3000)))
        asking = subprocess.Popen(["redis-cli", "-p", str(port), "EVAL", WORK, "0"], stdout=subprocess.DEVNULL)
        time.sleep(1)
        recorded = record(program.pid, scratch + "/perf.data")
        asking.wait(60)
        time.sleep(0.5)
        program.end()
        report = max((report for _, report in program.reports()), key=lambda report: report["event"]["duration_ms"])
        image = next(at for at, one in enumerate(report["images"]) if one["name"] == REDIS)
        functions = plans.Functions(REDIS, "-D")
        perf = Shares(perf_stacks(scratch + "/perf.data", functions))
        mire = Shares(mire_stacks(report, image, functions))
    failed = not recorded or perf.all < 100
    print(f"perf {perf.all} samples, Mire {len(report['event']['samples']['node'])} of {report['event']['duration_ms']} ms")
    for what in ("inner", "whole"):
        rows = perf.apart(mire, what)
        failed |= not rows or rows[0][0] > APART
        for apart, name, of_perf, of_mire in rows:
            print(f"{what:6} {name:28} perf {of_perf:5.1f} %  Mire {of_mire:5.1f} %  {'FAILED' if apart > APART else ''}")
    return not failed, perf.all < STARVED * PERF_S * PERF_HZ


def main():
    if not shutil.which("perf") or not os.path.exists(REDIS) or not record(os.getpid(), os.devnull):
        print("skipped  perf is not installed or may not sample")
        return 0
    all_starved = True
    for _ in range(TRIES):
        agree, starved = attempt()
        if agree:
            return 0
        all_starved &= starved
    print("skipped  redis was starved each time" if all_starved else "the two do not agree")
    return 0 if all_starved else 1


if __name__ == "__main__":
    sys.exit(main())
