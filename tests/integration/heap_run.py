#!/usr/bin/env python3
"""Programs under the heap monitor in hard conditions: what they hold is known, and how they fare must not change.

What the file says is read with heap_dump (tests/oracle/dump.c) after the program killed itself.
"""
import collections
import contextlib
import functools
import json
import math
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

BINARY = os.environ["MIRE_BINARY_DIR"]
RUN = BINARY + "/sdk/mire-run"
PRELOAD = BINARY + "/sdk/libmire-preload.so"
APP = BINARY + "/tests/integration/heap_app"
DUMP = BINARY + "/tests/oracle/heap_dump"
SPEND = BINARY + "/tests/integration/spend"  # a parent that watches nothing and recovers nothing
BUDGET = 20 << 20
INTERVAL = 65536
COLUMNS = ("live_count", "live_bytes", "error_count", "error_bytes")
EMULATOR = os.environ.get("MIRE_EMULATOR", "").split()  # words before a program of another processor
UNADVISED = "qemu-user says yes to every madvise and does nothing: pages are neither wiped for a child, nor given back, nor claimed"
LIMIT_S = int(os.environ.get("MIRE_LIMIT_S", 300 if EMULATOR else 100))


class Left:
    """What a heap file says."""

    def __init__(self, path):
        self.path = path
        self.size = os.stat(path).st_blocks * 512  # what it takes, not what it spans
        said = json.loads(subprocess.run([*EMULATOR, DUMP, path], stdout=subprocess.PIPE, check=True).stdout)
        self.facts, self.drops, self.categories = said["facts"], said["drops"], said["categories"]
        self.images, self.stacks = said["images"], said["stacks"]

    def of_function(self, path, begin, end):
        """Blocks whose innermost frame lies in [begin, end) of that file."""
        mine = [stack for stack in self.stacks if stack["frames"] and stack["frames"][0][0] >= 0
                and os.path.realpath(self.images[stack["frames"][0][0]]) == os.path.realpath(path)
                and begin <= stack["frames"][0][1] < end]
        return round(sum(stack["count"] for stack in mine)), round(sum(stack["bytes"] for stack in mine))


@functools.lru_cache
def function(path, name):
    for line in subprocess.run(["nm", "-S", path], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[3] == name:
            return int(words[0], 16), int(words[0], 16) + int(words[1], 16)
    raise RuntimeError(f"no {name} in {path}")


def mixed(seed):
    """What heap_app mixed holds at last: its figures (class, path) -> [count, bytes], of the whole of a class or of the whole
    program where one is None."""
    state, held = seed, collections.defaultdict(lambda: [0, 0])

    def below(bound):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) & (1 << 64) - 1
        return (state >> 33) % bound

    for _ in range(60000):
        size = 1 + below(16 << below(10))
        path = 1 + below(1 << below(8))
        if not below(2):
            for key in ((size_class(size), path), (size_class(size), None), (None, None)):
                held[key][0] += 1
                held[key][1] += size
    return held


def no_more_than(hits, tries, chance):
    """How likely so few hits are."""
    return sum(math.exp(math.lgamma(tries + 1) - math.lgamma(k + 1) - math.lgamma(tries - k + 1) + k * math.log(chance)
                        + (tries - k) * math.log(1 - chance)) for k in range(hits + 1))


class Reported:
    """What a report says of heap_app mixed, as mixed() tells it: key -> [count, bytes], of a sampled one with the error of each."""

    def __init__(self, path):
        said = json.loads(subprocess.run([*EMULATOR, DUMP, "--report", path], stdout=subprocess.PIPE, check=True).stdout)
        memory, self.said = said["memory"], said
        self.mode = memory["mode"]
        self.functions = {name: function(APP, name) for name in ("hold", "deep", "deeper")}
        self.own = {i for i, image in enumerate(said["images"]) if os.path.realpath(image["name"]) == os.path.realpath(APP)}
        self.figures, table = {}, memory["categories"]
        for name, kind, *figures in zip(*(table[key] for key in ("name", "kind", *COLUMNS) if key in table)):
            if kind == 0:
                self.figures[name, None] = figures
        table = memory["stacks"]
        of_class = memory["categories"]["name"]
        for category, node, *figures in zip(*(table[key] for key in ("category", "node", "count", "bytes", *COLUMNS[2:]) if key in table)):
            path = self.path_of(node)
            if path:
                self.figures[of_class[category], path] = figures
        self.figures[None, None] = [memory[key] for key in COLUMNS if key in memory]

    def path_of(self, node):
        """The path that deep() was given, by the functions between main's and hold(); None if the stack is another."""
        words = []
        while node:
            frame = self.said["nodes"]["frame"][node - 1]
            image, offset = self.said["frames"]["image"][frame], self.said["frames"]["offset"][frame]
            words.append(next((name for name, (begin, end) in self.functions.items() if image in self.own and begin <= offset < end), ""))
            node -= self.said["nodes"]["up"][node - 1]
        if words[:1] != ["hold"]:
            return None
        path, words = 1, [word for word in words[1:] if word]
        while len(words) > 1:  # the outermost first, which has the lowest bit
            path, words = path << 1 | (words[1] == "deeper"), words[2 if words[1] == "deeper" else 1:]
        return path


def size_class(size):
    """Up to 128 bytes in steps of 16, up to 8 KiB four to each doubling, then one."""
    if size <= 128:
        bound = (size + 15) // 16 * 16
    elif size > 8192:
        bound = 1 << (size - 1).bit_length()
    else:
        step = 1 << (size - 1).bit_length() - 3
        bound = (size + step - 1) // step * step
    return f"Malloc {bound}" if bound < 1024 or bound % 1024 else f"Malloc {bound // 1024} KiB"


def elsewhere(shm):
    """Words before a command that give it another /dev/shm: a folder, or "none", where files lie in no memory."""
    mount = "mount -t ramfs none /dev/shm" if shm == "none" else f"mount --bind '{shm}' /dev/shm"
    return ["unshare", "-m", "sh", "-c", mount + ' && exec "$@"', "sh"]


def fill_disk(where):
    with contextlib.suppress(OSError), open(where + "/filled", "wb", buffering=0) as file:
        while True:
            file.write(b"x" * 65536)


class HeapTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="mire-heap-")
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.addCleanup(self.forget)

    def forget(self, store=None):
        """Tables may lie elsewhere than their name."""
        for path in pathlib.Path(store or self.scratch + "/store").glob("box/*.heap"):
            pathlib.Path(os.path.realpath(path)).unlink(missing_ok=True)
        shutil.rmtree(store or self.scratch + "/store", ignore_errors=True)

    def run_app(self, *words, mode="exact", store=None, app=APP, env=None, under=(), **options):
        store = store or self.scratch + "/store"
        settings = [f"LD_PRELOAD={PRELOAD}", "MIRE_APP=heap", "MIRE_APP_VERSION=1", f"MIRE_STORE={store}", f"MIRE_MEMORY={mode}"]
        settings += [f"{name}={value}" for name, value in (env or {}).items()]
        return subprocess.run([*under, *EMULATOR, SPEND, self.scratch + "/spent", *settings, "--", *EMULATOR, app, *map(str, words)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S, **options)

    def spent(self):
        return int(pathlib.Path(self.scratch + "/spent").read_text().split()[0]) / 1e9

    def left(self, store=None):
        files = sorted(pathlib.Path(store or self.scratch + "/store").glob("box/*.heap"), key=os.path.getmtime)
        held = [Left(str(path)) for path in files]
        self.assertTrue(held, "no heap file was left")
        return held

    def check_held(self, *words, mode="exact", app=APP, under=()):
        """The program dies of its own SIGKILL, and the file says what it held: exactly."""
        done = self.run_app(*words, mode=mode, app=app, under=under)
        self.assertEqual(done.returncode, 128 + signal.SIGKILL, done.stderr)
        count, size = map(int, done.stdout.split()[1:])
        left = max(self.left(), key=lambda one: one.facts["allocated"])
        self.assertEqual(left.of_function(app, *function(app, "hold")), (count, size), left.drops)
        self.assertEqual({name: number for name, number in left.drops.items() if number}, {})
        self.assertLessEqual(left.size, BUDGET)
        return left

    def test_a_thousand_threads_lose_nothing(self):
        self.check_held("threads", 1000)

    @unittest.skipIf(EMULATOR, "an emulator takes too long for so many")
    def test_threads_beyond_those_counted_are_told(self):
        done = self.run_app("threads", 2200)
        self.assertEqual(done.returncode, 128 + signal.SIGKILL, done.stderr)
        left = self.left()[0]
        self.assertEqual(left.facts["threads"], 2048)
        self.assertIn(left.drops["thread"], range(2201 - 2048, 2206 - 2048))

    @unittest.skipIf(EMULATOR, UNADVISED)
    def test_forks_leave_the_parents_tables_as_they_are(self):
        self.check_held("storm", 60)

    def test_handlers_that_allocate_neither_hang_nor_lose(self):
        self.check_held("handlers", 1500)

    def test_a_hundred_thousand_blocks_are_told_one_by_one(self):
        left = self.check_held("many", 100000)
        self.assertEqual(left.facts["degrade_count"], 0)

    def test_a_module_loaded_again_and_again_is_told_each_time(self):
        module = BINARY + "/tests/oracle/liboracle_plugin_0.so"
        done = self.run_app("modules", 1500, env={"MIRE_TEST_MODULE": module})
        self.assertEqual(done.returncode, 128 + signal.SIGKILL, done.stderr)
        left = self.left()[0]
        self.assertEqual(left.of_function(module, *function(module, "oracle_plugin_alloc")), (1500, 1500 * 48), left.drops)
        self.assertEqual({name: number for name, number in left.drops.items() if number}, {})

    @unittest.skipIf(EMULATOR, UNADVISED)
    def test_tables_do_not_grow_with_what_was_freed(self):
        """MIRE_MILLIONS=345: as many operations as a process makes in 48 hours, 2,000 a second."""
        short = self.check_held("steady", 1)
        self.forget()
        longer = self.check_held("steady", int(os.environ.get("MIRE_MILLIONS", 5)))
        print(f"tables: {short.facts['used']} bytes, then {longer.facts['used']}")
        self.assertLessEqual(longer.facts["used"], short.facts["used"] * 1.05 + 65536)
        self.assertLessEqual(longer.facts["images"], short.facts["images"] + 1)
        self.assertLessEqual(longer.facts["threads"], short.facts["threads"] + 2)

    def test_estimates_lie_within_their_intervals(self):
        """Sampled: 95 in 100 estimates of a report, of count and of bytes, of each size class, of each stack of one of which
        something was drawn, and of all, are as near to the truth as it says; those of few samples as well. Exact: they are it."""
        done = self.run_app("mixed", 1)
        whole, truth = Reported(self.left()[0].path), mixed(1)
        self.assertEqual([whole.figures[key] for key in truth if key[1]], [figures for key, figures in truth.items() if key[1]])
        self.assertEqual(len(whole.figures[None, None]), 2, "exact figures have no error")
        self.forget()
        inside, total = collections.Counter(), collections.Counter()
        seeds = range(1, 1 + int(os.environ.get("MIRE_SEEDS", 40)))
        for seed in seeds:
            done = self.run_app("mixed", seed, mode=f"sampled:{INTERVAL}")
            self.assertEqual(done.returncode, 128 + signal.SIGKILL, done.stderr)
            truth = mixed(seed)
            self.assertEqual(truth[None, None], [int(word) for word in done.stdout.split()[1:]])
            report = Reported(self.left()[0].path)
            self.assertEqual(report.mode, "sampled")
            for key, true in truth.items():
                if key not in report.figures:
                    continue  # nothing was drawn
                told, error = report.figures[key][:2], report.figures[key][2:]
                what = "all" if key == (None, None) else "class" if key[1] is None else "stack"
                many = "" if what == "all" else " of few samples" if told[1] < 10 * INTERVAL else " of many"
                for unit in range(2):
                    kind = what + many + (" in blocks", " in bytes")[unit]
                    total[kind] += 1
                    inside[kind] += abs(told[unit] - true[unit]) <= error[unit]
            self.assertGreaterEqual(sum(1 for name, path in report.figures if path), 60)
            self.forget()
        for kind in sorted(total):
            print(f"estimates within their interval, {kind}: {inside[kind]} of {total[kind]}; seeds {seeds.start} to {seeds.stop - 1}")
        for kind in sorted(total):
            self.assertGreater(no_more_than(inside[kind], total[kind], 0.95), 1e-4, kind)

    def test_a_program_with_its_own_allocator_is_watched(self):
        for allocator in ("jemalloc", "tcmalloc", "mimalloc"):
            app = f"{APP}_{allocator}"
            if not os.path.exists(app):
                continue
            with self.subTest(allocator):
                self.check_held("threads", 50, app=app)
                self.forget()
                self.check_held("many", 30000, app=app)
                self.forget()

    def test_lua_itself_counts_as_many_bytes(self):
        """A program of Debian's. It counts its bytes itself; but what it asks for between that and its end."""
        root = EMULATOR[EMULATOR.index("-L") + 1] if EMULATOR else ""
        program = root + "/usr/bin/lua5.4"
        if not os.path.exists(program):
            self.skipTest("no lua5.4")
        script = ("local all = {} for i = 1, 20000 do all[i] = {name = 'item ' .. i, coroutine.create(print)} if i % 3 == 0 then all[i // 2] = nil end end "
                  "print('held', 0, collectgarbage('count') * 1024 // 1) io.stdout:flush() os.execute('exec kill -9 $PPID')")
        done = self.run_app("-e", script, app=program)
        self.assertEqual(done.returncode, 128 + signal.SIGKILL, done.stderr)
        left = max(self.left(), key=lambda one: one.facts["allocated"])
        lua = {i for i, path in enumerate(left.images) if "lua5.4" in path}
        ours = [stack for stack in left.stacks if any(frame[0] in lua for frame in stack["frames"])]
        counted, noted = float(done.stdout.split()[2]), sum(stack["bytes"] for stack in ours)
        print(f"lua counts {counted:.0f} bytes, noted are {noted:.0f} of {len(ours)} stacks")
        self.assertGreater(counted, 10e6)
        self.assertLess(abs(noted - counted), 8192)
        self.assertEqual({name: number for name, number in left.drops.items() if number}, {})
        whole = [stack for stack in ours if os.path.basename(left.images[stack["frames"][-1][0]]) == "lua5.4"]
        self.assertEqual(len(whole), len(ours), "stacks that do not lead to the program's start")

    def mount(self, name, *options):
        """A file system of its own at scratch/name. Skips the test where that is not allowed."""
        where = f"{self.scratch}/{name}"
        os.makedirs(where, exist_ok=True)
        if subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", where], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("may not mount a small disk")
        self.addCleanup(subprocess.run, ["umount", "-l", where])
        return where

    def tables_of(self, shm="/dev/shm"):
        """Where a run's tables are, if /dev/shm was another one for it; None if it has none."""
        for path in pathlib.Path(self.scratch + "/store").glob("box/*.heap"):
            found = os.readlink(path).replace("/dev/shm", shm) if path.is_symlink() else str(path)
            return found if os.path.exists(found) else None

    def test_a_directory_that_cannot_be_written_is_borne(self):
        store = self.mount("readonly", "-o", "ro") if os.getuid() == 0 else self.scratch + "/readonly"
        os.makedirs(store, 0o500, exist_ok=True)
        done = self.run_app("plain", 20000, store=store)
        self.assertEqual((done.returncode, done.stdout), (0, b"well\n"), done.stderr)

    @unittest.skipIf(EMULATOR, UNADVISED)
    def test_full_memory_for_files_sends_tables_to_the_disk(self):
        """As in a container whose /dev/shm others have filled, or which may only be read."""
        for options in ("size=64k", "ro"):
            with self.subTest(options):
                shm = self.mount("shm", "-o", options)
                self.check_held("many", 30000, under=elsewhere(shm))
                self.assertFalse(os.path.islink(next(pathlib.Path(self.scratch + "/store").glob("box/*.heap"))))
                self.assertEqual([path for path in pathlib.Path(shm).rglob("*") if path.is_file()], [])
                self.forget()

    @unittest.skipIf(EMULATOR, UNADVISED)
    def test_memory_for_files_that_runs_out_is_borne(self):
        """Exact mode goes over to sampling; a store to a page that cannot be had would have killed the program, and so would a
        look at one. Others fill what is left while it runs, too."""
        for size, filled in (("1m", False), ("2m", False), ("16m", True)):
            with self.subTest(size=size, filled=filled):
                shm = self.mount("shm", "-o", "size=" + size)
                filler = threading.Timer(0.2 if filled else 100, fill_disk, [shm])
                filler.start()
                done = self.run_app("steady" if filled else "many", 2 if filled else 300000, under=elsewhere(shm))
                filler.cancel()
                filler.join()
                self.assertEqual(done.returncode, 128 + signal.SIGKILL, done.stderr)
                left = Left(self.tables_of(shm))
                self.assertGreaterEqual(left.facts["degrade_count"], 1)
                self.assertLess(sum(left.drops.values()), left.facts["allocated"] / 100, left.drops)
                self.forget()

    @unittest.skipIf(EMULATOR, UNADVISED)
    def test_a_full_disk_is_borne(self):
        """A disk of 3 MB, of which other files have more and more, where the tables lie on it: no memory for files. What is left
        can be read, also where the disk has no room for a page that was never written."""
        disk = self.mount("disk", "-o", "size=3m")
        degraded = []
        for taken_kb in (500, 1000, 3072):
            for what in ("plain", "many"):
                with self.subTest(taken_kb=taken_kb, what=what):
                    with contextlib.suppress(OSError):
                        pathlib.Path(disk + "/taken").write_bytes(b"x" * taken_kb * 1024)
                    done = self.run_app(what, 200000, store=disk + "/store", under=elsewhere("none"))
                    self.assertEqual(done.returncode, 0 if what == "plain" else 128 + signal.SIGKILL, done.stderr)
                    fill_disk(disk)
                    degraded += [Left(str(path)).facts["degrade_count"] for path in pathlib.Path(disk + "/store").glob("box/*.heap")]
                    self.forget(disk + "/store")
                    os.unlink(disk + "/filled")
        self.assertGreaterEqual(len(degraded), 2)
        self.assertGreaterEqual(min(degraded), 1)

    def test_a_limit_on_files_is_borne(self):
        for limit in (0, 4096, 1 << 20):
            with self.subTest(limit=limit):
                done = self.run_app("plain", 100000, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
                self.assertNotIn(done.returncode, (128 + signal.SIGXFSZ, 128 + signal.SIGBUS, 128 + signal.SIGSEGV))
                self.assertEqual(done.stdout, b"well\n" if limit else done.stdout)

    @unittest.skipIf(EMULATOR, "an emulator's own memory is more than that")
    def test_a_limit_on_memory_is_borne(self):
        for limit_mb in (40, 70, 150):
            with self.subTest(limit_mb=limit_mb):
                done = self.run_app("plain", 20000, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit_mb << 20, limit_mb << 20)))
                self.assertEqual((done.returncode, done.stdout), (0, b"well\n"), done.stderr)

    def test_damaged_files_are_read_without_harm(self):
        self.check_held("many", 3000)
        path = next(pathlib.Path(self.scratch + "/store").glob("box/*.heap"))
        whole, rng = path.read_bytes(), random.Random(4)
        broken = self.scratch + "/broken"
        used = [at for at in range(0, len(whole), 4096) if any(whole[at:at + 4096])]
        for _ in range(40):
            bytes_ = bytearray(whole)
            for _ in range(rng.choice((1, 8, 300))):
                bytes_[rng.choice(used) + rng.randrange(4096)] = rng.randrange(256)
            if rng.randrange(4) == 0:
                del bytes_[rng.randrange(len(bytes_)):]
            pathlib.Path(broken).write_bytes(bytes_)
            begin = time.monotonic()
            done = subprocess.run([*EMULATOR, DUMP, broken], stdout=subprocess.DEVNULL, timeout=LIMIT_S)
            self.assertIn(done.returncode, (0, 1))
            self.assertLess(time.monotonic() - begin, 20)


if __name__ == "__main__":
    unittest.main()
