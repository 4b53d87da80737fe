#!/usr/bin/env python3
"""Frames of scripts in reports are those of Python's own traceback, taken by faulthandler during the same hang.

MIRE_PYTHONS names interpreters that are tried besides Debian's, with colons between.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import jsonschema

SOURCE, BINARY = os.environ["MIRE_SOURCE_DIR"], os.environ["MIRE_BINARY_DIR"]
SCHEMA = jsonschema.Draft202012Validator(json.loads(pathlib.Path(SOURCE, "schema/wire/report.schema.json").read_text()))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "tests/support"))
from starved import unless_starved

PYTHONS = ["/usr/bin/python3"] + [path for path in os.environ.get("MIRE_PYTHONS", "").split(":") if path]

# Every program waits once, so that its loop is known, then stays in one stack until the traceback is written. It computes
# without calls of Python's own, or sleeps.
BEGIN = """
import faulthandler, os, select, sys, time
dump = open('dump', 'wb')
def stay(sleeps=False):
    faulthandler.dump_traceback_later(0.5, file=dump)
    end = time.process_time() + 0.6
    while os.fstat(dump.fileno()).st_size == 0 or not sleeps and time.process_time() < end:
        time.sleep(0.9 if sleeps else 0)
select.poll().poll(20)
"""
END = "\nselect.poll().poll(20)\n"

WAYS = """
import functools
class Größe:
    def wiegen(self, what):
        return what()
    @staticmethod
    def fest(what):
        return Größe().wiegen(what)
    @property
    def breite(self):
        return Größe.fest(lambda: through_c(self))
def traced(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper
@traced
def through_c(self):
    return sorted([2, 1], key=lambda x: max(inner(x)) if x == 1 else x)
def inner(x):
    yield from (list(numbers()) if i else [i] for i in range(2))
def numbers():
    names = {'stay': stay, 'SLEEPS': SLEEPS}
    exec(compile('def 作る():\\n  return [stay(SLEEPS) for _ in (1,)]\\n作る()\\n', '<made>', 'exec'), names)
    yield 1
try:
    Größe().breite
except Exception:
    pass
"""

ASYNC = """
import asyncio
async def leaf():
    stay(SLEEPS)
async def middle():
    async with asyncio.Lock():
        await leaf()
async def task():
    await asyncio.sleep(0.05)
    await middle()
async def main():
    await asyncio.gather(task(), asyncio.sleep(0.01))
asyncio.run(main())
"""

DEEP = """
sys.setrecursionlimit(3000)
def one(n): return two(n - 1)
def two(n): return three(n - 1)
def three(n): return four(n - 1)
def four(n): return five(n - 1)
def five(n): return one(n - 1) if n > 0 else stay(SLEEPS)
one(700)
"""

# Which function may call which; the lines say where.
CHURN = """
import random
end = time.process_time() + 0.7
def a(n): return b(n - 1) + c(n - 1) if n > 0 else 0
def b(n): return sum(d(n - 1))
def c(n): return sorted([n, 0], key=e)[0]
def d(n):
    for i in range(2):
        yield a(n)
def e(n):
    try:
        return g(n)
    except ValueError:
        return 0
def g(n):
    if n % 2:
        raise ValueError
    return max(map(h, range(3)))
def h(n): return len([k() for k in (lambda: n, lambda: 1)])
while time.process_time() < end:
    a(6)
"""
EDGES = {("a", "<module>"), ("b", "a"), ("c", "a"), ("d", "b"), ("e", "c"), ("a", "d"), ("g", "e"), ("h", "g"), ("h.<locals>.<listcomp>", "h"),
         ("h.<locals>.<lambda>", "h.<locals>.<listcomp>"), ("h.<locals>.<lambda>", "h")}


def reports_of(store):
    found = []
    for path in sorted(pathlib.Path(store, "out").glob("*.report")):
        text = subprocess.run(["zstd", "-dcq", str(path)], stdout=subprocess.PIPE, check=True).stdout
        found.append(json.loads(text))
        SCHEMA.validate(found[-1])
    return found


def stack_of(report, node):
    """[(function, file, line) or None], innermost first: None is no frame of a script."""
    script, frames, nodes, stack = report.get("script"), report["frames"], report["nodes"], []
    while node:
        frame = nodes["frame"][node - 1]
        image, row = frames["image"][frame], frames["offset"][frame]
        if image >= 0 and report["images"][image].get("script"):
            file = script["file"][row]
            stack.append((script["texts"][script["function"][row]], script["texts"][file] if file >= 0 else "", script["line"][row]))
        else:
            stack.append(None)
        node -= nodes["up"][node - 1]
    return stack


def script_of(report, node):
    return [frame for frame in stack_of(report, node) if frame]


def traceback_of(folder):
    """The same from the traceback of the first thread, whose names are not qualified. At most 100 frames."""
    text = pathlib.Path(folder, "dump").read_text(errors="replace").split("(most recent call first):")[-1]
    frames = re.findall(r'File "(.*)", line (\d+) in (.*)', text)
    return [(name.encode().decode("unicode_escape"), file, int(line)) for file, line, name in frames]


# Node compiles what is hot, and runs the rest in its interpreter.
NODE = """
function price(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i) % 7; return s; }
class Shop { get total() { const end = process.cpuUsage().user + 7e5; let t = 0; while (process.cpuUsage().user < end) t += price(3e6); return t; } }
function serve() { return [1].map(() => new Shop().total)[0]; }
setTimeout(() => { serve(); setTimeout(() => {}, 50); }, 100);
"""


# Code made at run time that asks for memory through a function of the program, and its line in the perf map.
MAKER = r"""
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
void *volatile row;
__attribute__((noinline)) void new_row(void) { row = malloc(300000); memset(row, 7, 300000); }
int main(void)
{
    unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x5d, 0xc3}, *at;
    void (*helper)(void) = new_row;
    char name[64];
    FILE *map;
    int ends[2];
    struct pollfd end = {.events = POLLIN};
    if (pipe(ends))
        return 1;
    end.fd = ends[0];
    at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code + 6, &helper, sizeof helper);
    memcpy(at, code, sizeof code);
    snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
    map = fopen(name, "w");
    fprintf(map, "%lx %zx JS:*make_rows /srv/app.js:2:15\n", (unsigned long)at, sizeof code);
    fclose(map);
    for (int turn = 0; turn < 30; turn++) { /* it is looked at while it uses the processor */
        for (int i = 0; i < 20; i++)
            ((void (*)(void))at)();
        for (clock_t until = clock() + CLOCKS_PER_SEC / 10; clock() < until;)
            ;
        poll(&end, 1, 50);
    }
    unlink(name);
    return 0;
}
"""


@unless_starved
class ScriptsTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="mire-scripts-")
        self.folder = self.scratch.name

    def tearDown(self):
        self.scratch.cleanup()

    def run_script(self, text, python=PYTHONS[0], period=20, status=0):
        store = os.path.join(self.folder, "store")
        pathlib.Path(self.folder, "app.py").write_text(text)
        done = subprocess.run([os.path.join(BINARY, "sdk", "mire-run"), "--store", store, "--threshold", "300", "--period", str(period), "--app", "t",
                               "--app-version", "1", "--", *python.split(), "app.py"], cwd=self.folder, timeout=300,
                              env={**os.environ, "MIRE_MEMORY": "off", "MIRE_SETTINGS": "suppress_ms=0"})
        self.assertEqual(done.returncode, status)
        return [report for report in reports_of(store) if report["kind"] == "event"]

    def longest(self, reports):
        self.assertTrue(reports, "no hang was told")
        return max(reports, key=lambda report: report["event"]["duration_ms"])

    def holds_traceback(self, reports):
        """Of most stacks of a hang all frames are those of the traceback; only where the innermost one stands may differ."""
        expected = traceback_of(self.folder)
        self.assertGreater(len(expected), 2)
        shares = []
        for report in reports:
            stacks = [[(name.split(".")[-1], file, line) for name, file, line in script_of(report, node)] for node in report["event"]["samples"]["node"]]
            same = [bool(found) and found[0][:2] == expected[0][:2] and found[1:] == expected[1:] for found in stacks]
            shares.append((sum(same) / len(same), stacks[len(stacks) // 2]))
        self.assertGreater(max(shares)[0], 0.6, f"{expected}; {shares}")

    def check(self, text, python=PYTHONS[0]):
        for sleeps in (False, True):
            with self.subTest(python=python, sleeps=sleeps):
                pathlib.Path(self.folder, "dump").unlink(missing_ok=True)
                reports = self.run_script(BEGIN + text.replace("SLEEPS", str(sleeps)) + END, python)
                self.holds_traceback(reports)
                for path in pathlib.Path(self.folder, "store", "out").glob("*"):
                    path.unlink()

    def test_calls_through_c_generators_and_made_code(self):
        for python in PYTHONS:
            self.check(WAYS, python)

    def test_coroutines(self):
        for python in PYTHONS:
            self.check(ASYNC, python)

    def test_a_deep_stack_keeps_both_ends(self):
        for python in PYTHONS:
            report = self.longest(self.run_script(BEGIN + DEEP.replace("SLEEPS", "False") + END, python))
            expected = [(name, line) for name, file, line in traceback_of(self.folder)]
            good = 0
            for node in report["event"]["samples"]["node"]:
                found = [(name, line) for name, file, line in script_of(report, node)]
                good += found[1:60] == expected[1:60] and found[-1:] and found[-1][0] == "<module>"
            self.assertGreater(good, 0.6 * len(report["event"]["samples"]["node"]))

    def test_frames_stand_inside_the_function_that_evaluates_them(self):
        report = self.longest(self.run_script(BEGIN + WAYS.replace("SLEEPS", "False") + END))
        stack = stack_of(report, report["event"]["samples"]["node"][-1])
        runs = re.findall("s+", "".join("s" if frame else "n" for frame in stack))
        self.assertGreaterEqual(len(runs), 5)  # the lambdas, the generators and exec are evaluations of their own
        self.assertIsNone(stack[0])
        self.assertIsNone(stack[-1])

    def test_a_chain_that_changes_all_the_time_is_told_right_or_not_at_all(self):
        for python in PYTHONS:
            report = self.longest(self.run_script(BEGIN + CHURN + END, python, period=2))
            told, nodes = 0, report["event"]["samples"]["node"]
            for node in nodes:
                frames = [name for name, file, line in script_of(report, node)]
                told += bool(frames)
                for edge in zip(frames, frames[1:]):
                    self.assertIn(edge, EDGES, frames)
            self.assertGreater(len(nodes), 50)
            self.assertGreater(told, 0.95 * len(nodes))

    def test_other_threads_and_children_have_theirs(self):
        text = """
import threading
def held_by():
    end = time.process_time() + 0.7
    while time.process_time() < end: sum(range(1000))
def child():
    select.poll().poll(20)
    end = time.process_time() + 0.7
    while time.process_time() < end: sum(range(1000))
pid = os.fork()
if pid == 0:
    child()
    select.poll().poll(20)
    sys.exit(0)
os.waitpid(pid, 0)
select.poll().poll(20)
thread = threading.Thread(target=held_by); thread.start(); thread.join()
"""
        reports = self.run_script(BEGIN + text + END)
        main = {report["process"]["pid"]: report for report in reports}
        functions = [{name for node in report["event"]["samples"]["node"] for name, file, line in script_of(report, node)} for report in main.values()]
        self.assertTrue(any("child" in names for names in functions), functions)
        others = {name for report in reports for thread in report.get("threads", []) for name, file, line in script_of(report, thread["node"])}
        self.assertIn("held_by", others)

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_code_made_at_run_time_has_the_names_of_the_perf_map(self):
        pathlib.Path(f"/tmp/perf-{self.holds_names_of_node('--perf-basic-prof')}.map").unlink()

    @unittest.skipUnless(os.uname().machine == "x86_64", "the code made is x86-64's")
    def test_code_made_at_run_time_has_its_name_in_a_memory_report(self):
        program, store = os.path.join(self.folder, "maker"), os.path.join(self.folder, "store")
        subprocess.run(["cc", "-x", "c", "-", "-O1", "-g", "-fno-optimize-sibling-calls", "-o", program], input=MAKER, text=True, check=True)
        subprocess.run([os.path.join(BINARY, "sdk", "mire-run"), "--store", store, "--app", "t", "--app-version", "1", "--", program],
                       check=True, timeout=120, env={**os.environ, "MIRE_SETTINGS": "footprint_kib=60000"})
        told = [report for report in reports_of(store) if report["kind"] == "memory"]
        self.assertTrue(told, "no memory report")
        stacks = [script_of(told[0], node) for node in told[0]["memory"]["stacks"]["node"]]
        self.assertIn([("JS:*make_rows /srv/app.js:2:15", "", 0)], stacks)

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_code_made_at_run_time_has_the_names_of_the_jitdump(self):
        self.holds_names_of_node("--perf-prof")  # node writes it to the working directory

    def holds_names_of_node(self, option):
        """The process of the report."""
        reports = self.run_script(NODE, f"node {option} --interpreted-frames-native-stack")
        report = max(reports, key=lambda one: sum("price" in name for name in one.get("script", {"texts": []})["texts"]))
        stacks = [[name for name, file, line in script_of(report, node)] for node in report["event"]["samples"]["node"]]
        in_price = [stack for stack in stacks if any(re.match(r"\w+:.price .*app.py:2:", name) for name in stack)]
        self.assertGreater(len(in_price), 0.3 * len(stacks), stacks)
        for stack in in_price:
            order = [next((i for i, name in enumerate(stack) if re.match(rf"\w+:.{function} ", name)), -1) for function in ("price", "get total", "serve")]
            self.assertTrue(-1 not in order and order == sorted(order), stack)
        return report["process"]["pid"]

    def test_a_kill_takes_nothing_away(self):
        text = "\ndef killed():\n    end = time.process_time() + 0.7\n    while time.process_time() < end: sum(range(1000))\n    os.kill(os.getpid(), 9)\nkilled()\n"
        report = self.longest(self.run_script(BEGIN + text, status=137))
        self.assertTrue(report["event"]["open"])
        self.assertEqual({script_of(report, node)[0][0] for node in report["event"]["samples"]["node"] if script_of(report, node)}, {"killed"})


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2 if "-v" in sys.argv else 1, argv=[sys.argv[0]] + [arg for arg in sys.argv[1:] if arg != "-v"]))
