#!/usr/bin/env python3
"""Programs ended in every way, and the verdict that the next start, or mire-run, has on each.

    exits.py [--quick] [--times N] [--jobs N] [--only NAME]

Prints the confusion matrix, then the goals, `name value unit | goal <= N | ok`. Exits 0 if no goal is short. Ways that this
machine cannot bring about (a cgroup, a mount) are named and left out. How to read it: docs/exits.md."""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(os.environ["MIRE_BINARY_DIR"])
ENDER, BARE = BUILD / "tests/exits/ender", BUILD / "tests/exits/ender_bare"
MIRE_RUN = BUILD / "sdk/mire-run"
LIMIT = 64 << 20
PATIENCE_S = 30
BOOT_ID = "/proc/sys/kernel/random/boot_id"

Way = collections.namedtuple("Way", "name verdict how ground by after runner needs", defaults=("fore", None, None, "ender", ()))
# by: what the driver does once the program is ready; after: how the next start differs
WAYS = [
    Way("return", "clean_exit", "return"),
    Way("exit", "clean_exit", "exit"),
    Way("_exit", "clean_exit", "_exit"),
    Way("quick_exit", "clean_exit", "quick_exit"),
    Way("quick_exit-segv", "crash", "quick_exit-segv"),
    Way("kill-quick_exit", "watchdog_kill", "quick_exit-hang", by=signal.SIGKILL),
    Way("exec", "clean_exit", "exec"),
    Way("repaired", "clean_exit", "repaired"),
    Way("abort", "abort", "abort"),
    Way("segv", "crash", "segv"),
    Way("segv-thread", "crash", "thread-segv"),
    Way("bus", "crash", "bus"),
    Way("fpe", "crash", "fpe"),
    Way("ill", "crash", "ill"),
    Way("overflow", "crash", "overflow"),
    Way("segv-in-handler", "crash", "segv-in-handler"),
    Way("segv-handler-exits", "crash", "segv-handler-exits"),
    Way("segv-handler-returns", "crash", "segv-handler-returns"),
    Way("segv-background", "crash", "segv", ground="back"),
    Way("segv-full-disk", "crash", "segv", needs=("full",)),
    Way("segv-upgraded", "crash", "segv", after="upgrade"),
    Way("segv-rebooted", "crash", "segv", after="reboot", needs=("mount",)),
    Way("sigterm", "user_quit", "wait", by=signal.SIGTERM),
    Way("sigint", "user_quit", "wait", by=signal.SIGINT),
    Way("sighup", "user_quit", "wait", by=signal.SIGHUP),
    Way("told", "user_quit", "told", by=signal.SIGKILL),
    Way("kill", "os_kill", "wait", by=signal.SIGKILL),
    Way("kill-full-disk", "os_kill", "wait", by=signal.SIGKILL, needs=("full",)),
    Way("kill-background", "background_kill", "wait", ground="back", by=signal.SIGKILL),
    Way("kill-just-foreground", "background_kill", "wait", ground="just", by=signal.SIGKILL),
    Way("kill-hanging", "watchdog_kill", "hang", by=signal.SIGKILL),
    Way("watchdog-abort", "watchdog_kill", "hang", by=signal.SIGABRT),
    Way("kill-upgraded", "app_upgraded", "wait", by=signal.SIGKILL, after="upgrade"),
    Way("kill-rebooted", "rebooted", "wait", by=signal.SIGKILL, after="reboot", needs=("mount",)),
    Way("kill-os-upgraded", "os_upgraded", "wait", by=signal.SIGKILL, after="os-upgrade", needs=("mount",)),
    Way("oom", "foom", "oom", needs=("cgroup",)),
    Way("oom-fast", "foom", "oom-fast", needs=("cgroup",)),
    Way("oom-upgraded", "foom", "oom", after="upgrade", needs=("cgroup",)),
    Way("oom-background", "background_kill", "oom", ground="back", needs=("cgroup",)),
    Way("run-return", "clean_exit", "return", runner="mire-run"),
    Way("run-raw-exit", "clean_exit", "raw-exit", runner="mire-run"),
    Way("run-abort", "abort", "abort", runner="mire-run"),
    Way("run-segv", "crash", "segv", runner="mire-run"),
    Way("run-sigterm", "user_quit", "wait", by=signal.SIGTERM, runner="mire-run"),
    Way("run-kill", "os_kill", "wait", by=signal.SIGKILL, runner="mire-run"),
    Way("run-quick_exit-segv", "crash", "quick_exit-segv", runner="mire-run"),
    Way("run-kill-quick_exit", "watchdog_kill", "quick_exit-hang", by=signal.SIGKILL, runner="mire-run"),
    Way("run-kill-hanging", "watchdog_kill", "hang", by=signal.SIGKILL, runner="mire-run"),
    Way("run-oom", "foom", "oom", runner="mire-run", needs=("cgroup",)),
]


class Cgroup:
    """A memory cgroup below this process's own, with a limit."""

    def __init__(self, name):
        v2 = pathlib.Path("/sys/fs/cgroup/cgroup.controllers")
        self.v2 = v2.exists() and "memory" in v2.read_text().split()
        controller = "" if self.v2 else "memory"
        own = next(line.split(":", 2)[2] for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()
                   if line.split(":")[1] == controller)
        self.path = pathlib.Path("/sys/fs/cgroup", controller, own.lstrip("/"), f"mire_exits_{name}")
        self.path.mkdir()
        for file in ("memory.max", "memory.swap.max") if self.v2 else ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"):
            if (self.path / file).exists():
                (self.path / file).write_text("0" if file == "memory.swap.max" else str(LIMIT))

    def join(self):
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        for _ in range(100):
            try:
                return self.path.rmdir()
            except OSError:
                time.sleep(0.05)


def try_cgroup():
    try:
        Cgroup(f"try_{os.getpid()}").remove()
        return True
    except (OSError, StopIteration):
        return False


def try_mount():
    return subprocess.run(["unshare", "-m", "sh", "-c", f"mount --bind /dev/null {BOOT_ID}"], capture_output=True).returncode == 0


class FullDisk:
    """A small file system of its own for the store, that can be filled to the last byte and file."""

    def __init__(self, path):
        self.path = path
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m,nr_inodes=64", "mire-exits", path], check=True)

    def fill(self):
        try:
            with open(self.path / "filler", "wb", buffering=0) as file:
                while True:
                    file.write(bytes(1 << 16))
        except OSError:
            pass
        for i in range(64):
            try:
                (self.path / f"file{i}").touch()
            except OSError:
                return
        raise RuntimeError("the disk is not full")

    def free(self):
        for file in self.path.iterdir():
            if file.is_file():
                file.unlink()

    def remove(self):
        subprocess.run(["umount", "-l", self.path], check=True)


def read_line(process):
    line = process.stdout.readline().decode().strip()
    if line != "ready":
        raise RuntimeError(f"the program says {line!r}")


def child_of(process):
    """The program that mire-run runs."""
    path = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return int(path.read_text().split()[0])


def end_by(way, process):
    if way.how in ("hang", "quick_exit-hang"):
        time.sleep(1)
    if way.ground == "just":
        time.sleep(0.2)
    if way.by is not None:
        os.kill(child_of(process) if way.runner == "mire-run" else process.pid, way.by)


def start_next(way, store, folder):
    """The app's next start, in the world as `after` has it."""
    command = [ENDER, store, "2.0" if way.after == "upgrade" else "1.0", "none", "next"]
    changes = []
    if way.after in ("reboot", "os-upgrade"):
        (folder / "boot_id").write_text("01234567-89ab-4cde-8f01-23456789abcd\n")
        changes.append(f"mount --bind {folder}/boot_id {BOOT_ID}")
    if way.after == "os-upgrade":
        (folder / "os-release").write_text('NAME="Debian GNU/Linux"\nVERSION_ID="99"\n')
        changes.append(f"mount --bind {folder}/os-release /etc/os-release")
    if changes:
        command = ["unshare", "-m", "sh", "-c", " && ".join(changes) + ' && exec "$@"', "sh"] + command
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S)
    if done.returncode != 0:
        raise RuntimeError(f"the next start says {done.stdout!r} {done.stderr!r}")


def run_once(way, number):
    """Returns the verdict."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="mire-exits-"))
    store = folder / "store"
    store.mkdir()
    name = f"{os.getpid()}_{way.name}_{number}"
    cgroup = Cgroup(name) if "cgroup" in way.needs else None
    disk = FullDisk(store) if "full" in way.needs else None
    try:
        if way.runner == "mire-run":
            command = [MIRE_RUN, "--store", store, "--threshold", "300", "--", BARE, way.how]
        else:
            command = [ENDER, store, "1.0", way.ground, way.how]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              preexec_fn=cgroup.join if cgroup else None) as process:
            read_line(process)
            if disk:
                disk.fill()
            end_by(way, process)
            process.wait(PATIENCE_S)
        if disk:
            disk.free()
        if way.runner == "ender":
            start_next(way, store, folder)
        return verdict_in(store)
    finally:
        if disk:
            disk.remove()
        if cgroup:
            cgroup.remove()
        shutil.rmtree(folder, ignore_errors=True)


def verdict_in(store):
    """One run was judged, once."""
    kept = (store / "ends").read_bytes() if (store / "ends").exists() else bytes(8)
    lines = kept[8 + int.from_bytes(kept[4:8], "little"):].decode().splitlines()  # sdk/src/store/frame.h
    if len(lines) != 1:
        return f"{len(lines)} verdicts"
    return lines[0].split()[2]


def attempt(way, number):
    try:
        return run_once(way, number)
    except (OSError, RuntimeError, subprocess.SubprocessError) as problem:
        return f"failed: {problem}"


def print_matrix(found):
    truths = sorted({way.verdict for way, _ in found})
    verdicts = sorted(set(truths) | {verdict for _, verdict in found})
    counts = collections.Counter((way.verdict, verdict) for way, verdict in found)
    width = max(len(verdict) for verdict in truths) + 2
    print("ended as".ljust(width) + "".join(verdict[:15].rjust(17) for verdict in verdicts))
    for truth in truths:
        print(truth.ljust(width) + "".join(str(counts[truth, verdict] or ".").rjust(17) for verdict in verdicts))
    for (way, verdict), count in sorted(collections.Counter((w.name, v) for w, v in found if v != w.verdict).items()):
        print(f"  {way}: {count} times {verdict}")


def judge_goals(found):
    wrong = sum(verdict != way.verdict for way, verdict in found)
    goals = [
        ("off_the_diagonal", 100.0 * wrong / max(len(found), 1), "%", 1),
        ("crash_called_foom", sum(w.verdict in ("crash", "abort") and v == "foom" for w, v in found), "runs", 0),
        ("foom_called_crash", sum(w.verdict == "foom" and v in ("crash", "abort") for w, v in found), "runs", 0),
    ]
    for name, value, unit, goal in goals:
        print(f"{name} {value:g} {unit} | goal <= {goal} | {'ok' if value <= goal else 'short'}")
    return all(value <= goal for _, value, _, goal in goals)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    times = 1 if options.quick else options.times
    can = {"cgroup": try_cgroup(), "mount": try_mount()}
    can["full"] = can["mount"]
    ways = [way for way in WAYS if options.only in way.name]
    for need, there in can.items():
        if not there:
            print(f"not here, for lack of a {need}:", *(way.name for way in ways if need in way.needs))
    ways = [way for way in ways if all(can[need] for need in way.needs)]
    tasks = [(way, number) for number in range(times) for way in ways]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        verdicts = list(pool.map(lambda task: attempt(*task), tasks))
    found = [(way, verdict) for (way, _), verdict in zip(tasks, verdicts)]
    print(f"{len(ways)} ways, {times} times each")
    print_matrix(found)
    sys.exit(0 if judge_goals(found) else 1)


main()
