#!/usr/bin/env python3
"""bench_lag.py - what watching for hangs costs a program: `name value unit | goal <= N | ok|short`.

Runs bench_gate (a turn of the loop) and bench_stacks (a sample, seen by the thread it stops), then measures programs nobody
prepared: an idle one and an idle redis-server, python3 and redis-server in hangs, and what redis-server serves with Mire and
without, in pairs of short runs taken in turn, for the machine may have others to serve: of the pairs' ratios the mean of the
middle half counts, and behind it stands where it lies in 95 of 100 such measurements."""
import glob
import json
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

BINARY = os.environ["MIRE_BINARY_DIR"]
RUN = BINARY + "/sdk/mire-run"
FLOOR = BINARY + "/tests/bench/sample_floor"
IDLE_S, HANG_S = 8, 8
CHECKS_PER_S = 4  # a loop that turns is looked at so often at most
SERVERS, PAIRS, REQUESTS = 6, 20, 20000  # servers started, pairs of runs for each, requests in a run
shorts = []


def say(name, value, unit, goal=None, order="<=", note=""):
    line = f"{name} {value:.4g} {unit}"
    if goal is not None:
        short = value > goal if order == "<=" else value < goal
        shorts.extend([name] * short)
        line += f" | goal {order} {goal} | {'short' if short else 'ok'}"
    print(line + note, flush=True)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


def first(pid, path, field):
    with open(f"/proc/{pid}/{path}") as file:
        return int(file.read().split()[field])


class Threads:
    """A program's threads that are Mire's: how often they woke and what they used, since the last look."""

    def __init__(self, pid):
        self.pid, self.tids = pid, []
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/comm") as file:
                if file.read().startswith("mire"):
                    self.tids.append(tid)
        self.before = self.read()

    def read(self):
        wakes = cpu = 0
        for tid in self.tids:
            with open(f"/proc/{self.pid}/task/{tid}/status") as file:
                wakes += sum(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches"))
            cpu += first(self.pid, f"task/{tid}/schedstat", 0)
        return time.monotonic(), wakes, cpu

    def since(self):
        """(wake-ups a second, percent of one processor)"""
        now, before = self.read(), self.before
        seconds = now[0] - before[0]
        return (now[1] - before[1]) / seconds, (now[2] - before[2]) / seconds / 1e7


class Program:
    """A program under mire-run, its threads and its reports."""

    def __init__(self, scratch, *command, options=()):
        self.store = tempfile.mkdtemp(dir=scratch)
        self.run = subprocess.Popen([RUN, "--store", self.store, *options, "--", *command], stdout=subprocess.DEVNULL)
        self.pid = 0
        while not self.pid:
            time.sleep(0.05)
            self.pid = next(iter(children(self.run.pid)), 0)

    def end(self):
        try:
            os.kill(self.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        self.run.wait(30)

    def reports(self):
        for path in glob.glob(self.store + "/out/*.report"):
            plain = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout
            yield os.path.getsize(path), json.loads(plain)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def redis_command(port, scratch):
    return ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", scratch,
            "--enable-debug-command", "yes", "--logfile", os.path.join(scratch, "redis.log")]


def ask(port, *words):
    for _ in range(200):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
                line.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in words))
                return line.recv(65536)
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise RuntimeError("redis-server does not answer")


def idle(scratch):
    program = Program(scratch, sys.executable, "-c", f"import select\nselect.poll().poll(50)\nselect.poll().poll({(IDLE_S + 5) * 1000})")
    time.sleep(1)
    threads = Threads(program.pid)
    time.sleep(IDLE_S)
    wakes, cpu = threads.since()
    program.end()
    say("idle_threads", len(threads.tids), "", 1, ">=")
    say("idle_wakeups", wakes, "/s", 0)
    say("idle_cpu", cpu, "%", 0.05)


def idle_redis(scratch):
    port = free_port()
    program = Program(scratch, *redis_command(port, scratch))
    ask(port, "PING")
    time.sleep(1)
    threads = Threads(program.pid)
    turns = first(program.pid, f"task/{program.pid}/schedstat", 2)
    time.sleep(IDLE_S)
    wakes, cpu = threads.since()
    turns = (first(program.pid, f"task/{program.pid}/schedstat", 2) - turns) / IDLE_S
    program.end()
    say("redis_idle_turns", turns, "/s")
    # In each check period the first turn wakes the check thread, then a timer; the worker looks for modules once a second.
    say("redis_idle_wakeups", wakes, "/s", 2 * CHECKS_PER_S + 1)
    say("redis_idle_cpu", cpu, "%", 0.05)


def floor(how):
    """Percent of one processor that the bare part of sampling takes: a wake-up, a look, a signal or a read, the copy."""
    out = subprocess.run([FLOOR, how, "5", "50", "16"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return float(out)


def hang(name, program, begin, how):
    """Mire's share of one processor while the program hangs: its threads', and what the hung thread lost to handlers."""
    begin()
    time.sleep(1.5)  # half the threshold: samples are taken now
    threads = Threads(program.pid)
    time.sleep(HANG_S - 2.5)
    _, cpu = threads.since()
    time.sleep(2.5)
    program.end()
    sizes, lost = [], 0
    for size, report in program.reports():
        if not report["event"].get("launch"):
            sizes.append(size)
            lost = report["cost"]["stopped_sum_ns"] / report["event"]["duration_ms"] / 1e4
    least = floor(how)
    say(f"hang_{name}_cpu", cpu + lost, "%")
    say(f"hang_{name}_cpu_floor", least, "%")
    say(f"hang_{name}_cpu_by_floor", (cpu + lost) / least, "x", 3)
    say(f"hang_{name}_report", max(sizes, default=float("inf")) / 1024, "KB", 8)


def hangs(scratch):
    for name, doing in (("asleep", f"time.sleep({HANG_S})"),
                        ("busy", f"end = time.time() + {HANG_S}\nwhile time.time() < end: sum(range(1000))")):
        code = f"import select, time\nselect.poll().poll(300)\n{doing}\nselect.poll().poll(5000)"
        hang("python_" + name, Program(scratch, sys.executable, "-c", code), lambda: time.sleep(0.3), name)
    port = free_port()
    program = Program(scratch, *redis_command(port, scratch))
    ask(port, "CONFIG", "SET", "lua-time-limit", "0")

    def sort_for_ever():
        code = f"local e=redis.call('TIME')[1]+{HANG_S} while redis.call('TIME')[1]+0<e do redis.call('PING') end"
        with socket.create_connection(("127.0.0.1", port)) as line:
            line.sendall(b"*3\r\n$4\r\nEVAL\r\n$%d\r\n%s\r\n$1\r\n0\r\n" % (len(code), code.encode()))
            time.sleep(0.2)

    hang("redis_busy", program, sort_for_ever, "busy")


class Server:
    """A redis-server, under Mire or not, that benchmarks can be run on."""

    def __init__(self, scratch, watched):
        self.port = free_port()
        command = redis_command(self.port, tempfile.mkdtemp(dir=scratch))
        self.program = Program(scratch, *command) if watched else None
        self.process = None if watched else subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.pid = self.program.pid if watched else self.process.pid
        ask(self.port, "PING")

    def measure(self, pin):
        """(requests a second, ns of the server's processor time for each)"""
        cpu = first(self.pid, f"task/{self.pid}/schedstat", 0)
        out = subprocess.run([*pin, "redis-benchmark", "-p", str(self.port), "-t", "get", "-n", str(REQUESTS), "-c", "10", "--csv"],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
        cpu = first(self.pid, f"task/{self.pid}/schedstat", 0) - cpu
        return float(out.splitlines()[-1].split(",")[1].strip('"')), cpu / REQUESTS

    def end(self):
        if self.program:
            self.program.end()
        else:
            self.process.terminate()
            self.process.wait(30)


def middle_half(values):
    quarter = len(values) // 4
    return statistics.mean(sorted(values)[quarter:-quarter])


def say_ratio(name, ratios, goal, order):
    again = sorted(middle_half(random.choices(ratios, k=len(ratios))) for _ in range(1000))
    say(name, middle_half(ratios), "%", goal, order, f" ({again[25]:.2f} to {again[975]:.2f}, {len(ratios)} pairs)")


def throughput(scratch):
    rates, costs = [], []
    cpus = sorted(os.sched_getaffinity(0))
    pin = ["taskset", "-c", str(cpus[-1])] if len(cpus) > 1 else []  # the client; the servers have another
    for start in range(SERVERS):
        servers = [Server(scratch, watched) for watched in ((False, True) if start % 2 else (True, False))]
        bare, watched = sorted(servers, key=lambda server: server.program is not None)
        for server in servers:
            subprocess.run(["taskset", "-apc", str(cpus[0]), str(server.pid)], stdout=subprocess.DEVNULL, check=True)
            server.measure(pin)  # warm
        for pair in range(PAIRS):
            got = {server: server.measure(pin) for server in ((bare, watched) if pair % 2 else (watched, bare))}
            rates.append(100 * got[watched][0] / got[bare][0])
            costs.append(100 * got[watched][1] / got[bare][1])
        bare.end(), watched.end()
    say_ratio("redis_throughput", rates, 99.5, ">=")
    say_ratio("redis_cpu_per_request", costs, 100.5, "<=")


def main():
    failed = [name for name in ("gate", "stacks") if subprocess.run([f"{BINARY}/tests/bench/bench_{name}"]).returncode]
    with tempfile.TemporaryDirectory(prefix="mire-lag-") as scratch:
        idle(scratch)
        if shutil.which("redis-server"):
            idle_redis(scratch)
        hangs(scratch)
        if shutil.which("redis-benchmark"):
            throughput(scratch)
    return 1 if shorts or failed else 0


if __name__ == "__main__":
    sys.exit(main())
