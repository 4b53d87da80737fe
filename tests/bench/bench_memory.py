#!/usr/bin/env python3
"""bench_memory.py - what the heap monitor costs: `name value unit | goal <= N | ok|short`.

    bench_memory.py [--rounds N] [--only PROGRAM,...]

Runs Debian's programs (memory/programs.py) under Mire and under its neighbours (memory/monitors.py), in turn. A run's processor
time is held against that of a bare run which shares its processor all the while, for the machine may have others to serve (of
the program with two threads: which comes next to it). Of the rounds' ratios the mean of the middle half counts, and behind it
stands where it lies in 95 of 100 such measurements."""
import argparse
import concurrent.futures
import os
import random
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "memory"))
import monitors as m
import programs

BINARY = os.environ["MIRE_BINARY_DIR"]
DUMP = BINARY + "/tests/oracle/heap_dump"
EXACT_GOALS = {"sqlite": 1.13, "xmllint": 1.25, "lua": 1.22, "jq": 1.08, "cc1": 1.22, "redis": 1.25, "python": 1.30, "loop": 2.3}
SAMPLED_GOAL, SAMPLED_LOOP_GOAL = 1.03, 1.07
HEAPTRACK_SHARE = 0.5  # of what heaptrack adds
RESIDENT_MB = 20
STACK_BYTES, STACKS_MIN = 30, 2000  # of a program with fewer stacks the first pages would be counted
PARALLEL_TIMES = 5     # rounds of the program with two threads for each of another: its pairs are not at once and scatter more
PEERS_EVERY = 3        # rounds, so that each processor and order is among them; their figures are large or without a goal
shorts = []


def say(name, value, unit, goal=None, note=""):
    line = f"{name} {value:.4g} {unit}".rstrip()
    if goal is not None:
        short = not value <= goal
        shorts.extend([name] * short)
        line += f" | goal <= {goal} | {'short' if short else 'ok'}"
    print(line + note, flush=True)


def middle_half(values):
    quarter = len(values) // 4
    return statistics.mean(sorted(values)[quarter:len(values) - quarter])


def spread(values):
    drawn = random.Random(1)
    again = sorted(middle_half(drawn.choices(values, k=len(values))) for _ in range(1000))
    return f" ({again[25]:.3f} to {again[975]:.3f}, {len(values)} pairs)"


def unique_stacks(trace):
    """Stacks that heaptrack saw: its file has `+ SIZE STACK ADDRESS` for each allocation."""
    with open(trace, "rb") as file:
        return len({line.split(b" ", 3)[2] for line in file if line.startswith(b"+ ")})


class Measured:
    """All runs of one program: by round, what each monitor's run used, and the bare one beside it."""

    def __init__(self, program, monitors, scratch, rounds):
        self.name, self.rounds, self.said, self.stacks = program.name, [], {}, 0
        cpus = sorted(os.sched_getaffinity(0))
        for number in range(rounds * PARALLEL_TIMES if program.parallel else rounds):
            names = [m.EXACT, m.SAMPLED]
            if number < rounds and number % PEERS_EVERY == 0:
                names += [m.BOUNDED, m.IDLE_THREAD, m.HEAPTRACK, m.GPERFTOOLS, m.JEMALLOC]
            used = {}
            for name in names:
                used[name] = programs.run_pair(program, monitors.environments[name], scratch, cpus[number % len(cpus)],
                                               number // len(cpus) % 2)
                if name == m.HEAPTRACK and number == 0:
                    self.stacks = unique_stacks(monitors.out)
                monitors.clear()
            self.rounds.append(used)
        for name in (m.EXACT, m.BOUNDED, m.SAMPLED):
            self.said[name] = self.tables(program, monitors, scratch, name)

    def tables(self, program, monitors, scratch, name):
        """What the tables say towards the end of one more run."""
        with concurrent.futures.ThreadPoolExecutor() as beside:
            said = []
            program.run(monitors.environments[name], scratch, lambda process: said.append(beside.submit(monitors.watch, process, DUMP)))
            said = said[0].result()
        monitors.clear()
        if not said or said["facts"]["places"] < 2:
            raise SystemExit(f"{self.name}, {name}: nothing was monitored")
        return said

    def ratios(self, name):
        return [watched[0] / bare[0] for watched, bare in (used[name] for used in self.rounds if name in used)]

    def resident_mb(self, name):
        both = [used[name] for used in self.rounds if name in used]
        return statistics.median((watched[1] - bare[1]) / 1e6 for watched, bare in both)

    def tell_ratio(self, name, goal=None):
        ratios = self.ratios(name)
        say(f"{self.name}_{name}", middle_half(ratios), "x", goal, spread(ratios))

    def tell(self):
        self.tell_ratio(m.EXACT, EXACT_GOALS[self.name])
        self.tell_ratio(m.SAMPLED, SAMPLED_LOOP_GOAL if self.name == "loop" else SAMPLED_GOAL)
        for peer in (m.IDLE_THREAD, m.HEAPTRACK, m.GPERFTOOLS, m.JEMALLOC):
            self.tell_ratio(peer)
        added = middle_half(self.ratios(m.HEAPTRACK)) - 1
        say(f"{self.name}_exact_of_heaptrack", (middle_half(self.ratios(m.EXACT)) - 1) / added, "of its added cost", HEAPTRACK_SHARE)
        for mode in (m.BOUNDED, m.SAMPLED):
            say(f"{self.name}_{mode}_resident", self.resident_mb(mode), "MB", RESIDENT_MB)
        self.tell_tables()

    def tell_tables(self):
        exact, bounded = self.said[m.EXACT]["facts"], self.said[m.BOUNDED]["facts"]
        say(f"{self.name}_allocations", exact["allocated"], "")
        say(f"{self.name}_exact_degraded", exact["degrade_count"], "times", 0)
        say(f"{self.name}_bounded_degraded", bounded["degrade_count"], "times")
        say(f"{self.name}_bounded_tables", bounded["used_most"] / 1e6, "MB", RESIDENT_MB)
        if self.stacks >= STACKS_MIN:
            say(f"{self.name}_stack_bytes", exact["stack_bytes"] / self.stacks, "B", STACK_BYTES, f" ({self.stacks} stacks)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mire-memory-") as scratch:
        monitors = m.Monitors(BINARY, scratch)
        for program in programs.make_all(scratch, BINARY + "/tests"):
            if not arguments.only or program.name in arguments.only.split(","):
                Measured(program, monitors, scratch, arguments.rounds).tell()
    return 1 if shorts else 0


if __name__ == "__main__":
    sys.exit(main())
