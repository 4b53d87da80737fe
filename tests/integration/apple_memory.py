#!/usr/bin/env python3
"""The memory monitor as it is for macOS, on a machine for Mach-O code (tests/apple/machine.h).

Eight threads allocate, move and free until the process is killed at any instant: each live block must be in the tables, with
its size and stack, and no other. An app grows to its limit, reports at the threshold, and is killed; the next start tells
why, over NSURLSession, and the server names file and line from the dSYM.
"""
import contextlib
import http.server
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest
import zlib

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(os.environ["MIRE_SOURCE_DIR"])
BINARY = pathlib.Path(os.environ["MIRE_BINARY_DIR"])
sys.path.append(str(SOURCE / "tests" / "support"))
from apple_host import make_library
from apple_unwind import LAST, compile_to, tool
from mired import Mired, scratch, until

MACHINE = BINARY / "tests" / "integration" / "apple_machine"
FLAGS = ["-g", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", f"-I{SOURCE}/tests", f"-I{SOURCE}/sdk/include"]
KILLS = 2          # of each way to see allocations
CALLS = 400_000    # between two kills, at least
LIMIT_MIB = 145    # that the system gives the growing app
MIB = 1 << 20
CLASSES = {"Cell": 200, "Shop.Cart": 100, "CGImage": 50, "NSKVONotifying_Cell": 7}  # of memory_objects.m
SIZES = {"Cell": 1008, "Shop.Cart": 512, "CGImage": 4096, "NSKVONotifying_Cell": 1008}


def build(folder, name):
    """A library for macOS of tests/apple, with its debug information in a dSYM."""
    out = folder / name
    objects = SOURCE / "tests" / "apple" / f"{name.removesuffix('_app')}_objects.m"
    items = [compile_to(folder / f"{name}.o", "x86_64", FLAGS, SOURCE / "tests" / "apple" / f"{name}.c"),
             compile_to(folder / "last.o", "x86_64", ["-O2", "-fomit-frame-pointer", "-mno-red-zone"], "-", LAST)]
    if objects.exists():
        items.append(compile_to(folder / "objects.o", "x86_64", FLAGS, objects, language="objective-c"))
    subprocess.run([tool("ld64.lld"), "-dylib", "-arch", "x86_64", "-platform_version", "macos", "11.0", "15.0", "-undefined",
                    "dynamic_lookup", "-o", out, *items], check=True)
    return out


class Taker(http.server.ThreadingHTTPServer):
    """Takes reports, and answers when it may; or sends them elsewhere."""

    def __init__(self, elsewhere=None):
        self.bodies, self.may_answer, self.elsewhere = [], threading.Event(), elsewhere
        super().__init__(("127.0.0.1", 0), TakerHandler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class TakerHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_error(404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append((self.path, self.headers, body))
        if self.server.elsewhere:
            self.send_response(307)
            self.send_header("Location", self.server.elsewhere + self.path)
            self.send_header("Content-Length", "0")
            self.send_header("Connection", "close")
            self.end_headers()
            return
        self.server.may_answer.wait(300)
        answer = json.dumps({"report_id": json.loads(zlib.decompress(body, 47))["id"]}).encode()
        self.send_response(202)
        self.send_header("Content-Length", str(len(answer)))
        self.send_header("Connection", "close")
        with contextlib.suppress(ConnectionError):  # the app has ended meanwhile
            self.end_headers()
            self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Memory(unittest.TestCase):
    def setUp(self):
        self.scratch = scratch("apple")
        self.folder = pathlib.Path(self.scratch.name)
        self.libmalloc, self.app = build(self.folder, "libmalloc"), build(self.folder, "memory_app")
        self.store = self.folder / "store"
        self.addCleanup(self.scratch.cleanup)

    def popen(self, *words, limit=0, **env):
        return subprocess.Popen([MACHINE, "run", self.libmalloc, LIBRARY, self.app, str(limit), *map(str, words)],
                                stdin=subprocess.PIPE if words[0] == "send" else None, stdout=subprocess.PIPE, text=True,
                                env=os.environ | env)

    def judge(self, truth):
        heap = next((self.store / "box").glob("*.heap"))
        done = subprocess.run([MACHINE, "judge", heap, truth, self.app], stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        return map(int, done.stdout.split())

    def calls(self, truth):
        return int.from_bytes(truth.read_bytes()[:8], "little") if truth.exists() else 0

    def test_every_live_block_outlives_a_kill(self):
        for way in ["zones", "logger"] * KILLS:
            with self.subTest(way=way):
                truth = self.folder / "truth"
                truth.unlink(missing_ok=True)
                app = self.popen("kill", self.store, way, truth)
                until("the threads allocate", lambda: self.calls(truth) > CALLS or app.poll() is not None)
                app.kill()
                self.assertEqual((app.wait(), app.stdout.read()), (-signal.SIGKILL, ""))
                app.stdout.close()
                seen, in_flight, unexplained, calls = self.judge(truth)
                print(f"{way}: {seen} blocks, {calls} calls, {in_flight} in flight, {unexplained} of them recorded")
                self.assertGreater(seen, 2000)
                self.assertLessEqual(in_flight, 8)
                self.assertLessEqual(unexplained, 2 * in_flight) # a batch has two
                for file in (self.store / "box").iterdir():
                    file.unlink()

    def test_a_report_at_the_threshold_and_the_kill_reach_the_server(self):
        app = self.popen("grow", self.store, "zones", limit=LIMIT_MIB)
        self.assertEqual(app.stdout.readline(), "full\n")
        until("the threshold's report is stored", lambda: list((self.store / "out").glob("*.report")) or app.poll() is not None)
        app.kill()
        app.wait()
        app.stdout.close()
        mired = Mired(self.folder)
        self.addCleanup(mired.stop)
        payload = self.folder / "payload.json"
        payload.write_text(json.dumps(self.payload(app.pid)))
        metrics = self.folder / "metrics.json"
        metrics.write_text(json.dumps(self.metrics()))
        metrics_27 = self.folder / "metrics_27.json"
        metrics_27.write_text(json.dumps(self.metrics_27()))
        following = self.popen("next", self.store, mired.url, mired.key("mac", "ingest"), MACHINE_METRICKIT=payload, MACHINE_METRICS=metrics,
                               MACHINE_METRICS_27=metrics_27)
        self.assertEqual(following.communicate(timeout=300)[0], "flushed 0\n")
        foom, hang, memory = until("the reports are there", lambda: self.issues(mired))
        self.assertEqual((foom["category"], hang["category"], memory["category"]), ("foom", "hang", "memory"))
        self.assertEqual(hang["totals"]["longest_ms"], 20000)
        self.assertTrue(foom["caller1"].startswith("memory_app+"), foom)
        self.check_categories(mired, memory)
        killed, told = self.facts(mired, foom), self.facts(mired, hang)
        self.assertEqual(told["pid"], str(app.pid))
        self.assertEqual((told["pid"], told["process started"]), (killed["pid"], killed["process started"]))
        self.assertEqual(mired.sql("SELECT count(DISTINCT install) FROM event"), ["1"])
        # Of MetricKit's two exits, told in two forms, the kill is that of the run; no run of libmire crashed.
        until("the ends are counted", lambda: mired.sql("SELECT verdict, sum(ends) FROM session_end_day GROUP BY 1") == ["crash|2"])
        archive = self.folder / "Mac.xcarchive"
        (archive / "BCSymbolMaps").mkdir(parents=True)
        subprocess.run([tool("dsymutil"), self.app, "-o", archive / "dSYMs" / "memory_app.dSYM"], check=True)
        mired.mire("symbols", "upload", archive, MIRE_KEY=mired.key("mac", "symbols"))
        until("the issues have names", lambda: {issue["caller1"] for issue in self.issues(mired)} == {"load_cells"})
        text = (SOURCE / "tests/apple/memory_app.c").read_text()
        line = text[:text.index("malloc(100000)")].count("\n") + 1
        for issue in self.issues(mired):
            if issue["category"] == "hang":
                self.assertIn("tests/apple/memory_app.c:", issue["caller1_location"])
                self.assertEqual(issue["first_version"], "1.0")
                continue
            self.assertTrue(issue["caller1_location"].endswith(f"tests/apple/memory_app.c:{line}"), issue)

    def test_a_background_session_sends_files_and_is_left_to_the_system(self):
        for way in ("flush", "stop"):
            with self.subTest(way=way):
                taker, bodies = Taker(), self.folder / way
                self.addCleanup(taker.server_close)
                self.addCleanup(taker.shutdown)
                bodies.mkdir()
                if way == "flush":
                    taker.may_answer.set()
                app = self.popen("send", self.folder / f"store-{way}", taker.url, "key", way, TMPDIR=str(bodies))
                path, headers, body = until("a report is sent", lambda taker=taker, app=app: taker.bodies or app.poll() is not None and [None])[0]
                self.assertEqual((path, headers["Authorization"]), ("/api/v1/reports", "Bearer key"))
                self.assertEqual(json.loads(zlib.decompress(body, 47))["mire"], 1)
                left = [file.read_bytes() for file in bodies.iterdir()] if way == "stop" else []
                printed = app.communicate("\n", timeout=300)[0]
                self.assertEqual((app.returncode, printed), (0, "stopped\n" if way == "stop" else "flushed 0\nstopped\n"))
                self.assertEqual([file.read_bytes() for file in bodies.iterdir()], left)
                self.assertEqual(len(left), way == "stop")
                self.assertEqual(bool(list((self.folder / f"store-{way}").glob("out/*.report"))), way == "stop")
                taker.may_answer.set()

    def test_a_redirect_is_not_followed(self):
        other = Taker()
        other.may_answer.set()
        taker = Taker(other.url)
        for one in (other, taker):
            self.addCleanup(one.server_close)
            self.addCleanup(one.shutdown)
        app = self.popen("post", self.store, taker.url, "key")
        until("a report is sent again", lambda: len(taker.bodies) > 1 or app.poll() is not None)
        self.assertIsNone(app.poll())
        app.kill()
        app.wait()
        app.stdout.close()
        self.assertEqual(other.bodies, [])
        self.assertTrue(list(self.store.glob("out/*.report")))

    def test_objects_are_known_by_class(self):
        for way in ("zones", "logger"):
            with self.subTest(way=way):
                store = self.folder / "Library/Caches/mire/mac"  # below HOME, where the app sets none
                app = self.popen("objects", "", way, HOME=str(self.folder), XDG_STATE_HOME="")
                self.assertEqual(app.communicate(timeout=300)[0], "flushed\n")
                reports = [self.unpack(path.read_bytes()) for path in (store / "out").glob("*.report")]
                report, = [report for report in reports if report["kind"] == "memory"]
                rows = report["memory"]["categories"]
                held = {name: (rows["live_count"][i], rows["live_bytes"][i]) for i, name in enumerate(rows["name"]) if not name.startswith(("VM: ", "Malloc "))}
                for name, count in CLASSES.items():
                    self.assertEqual(held.pop(name), (count, count * SIZES[name]))
                self.assertEqual(held.pop("NSObject"), (1, 16))
                self.assertFalse(set(held) & {"Cell", "another", "_TtCs12_SwiftObject", "__NSCFType"}, held)
                for path in (store / "out").iterdir():
                    path.unlink()

    def test_an_exception_that_nobody_catches(self):
        app = self.popen("throw", self.store)
        self.assertEqual((app.communicate(timeout=300)[0], app.returncode), ("", -signal.SIGABRT))
        following = self.popen("scroll", self.store)  # any next start
        following.communicate(timeout=300)
        reports = [self.unpack(path.read_bytes()) for path in (self.store / "out").glob("*.report")]
        report, = [report for report in reports if report["kind"] == "event" and report["event"]["trigger"] == "crash"]
        self.assertEqual((report["event"]["name"], report["exit"]["verdict"]), ("NSRangeException", "abort"))
        self.assertEqual(report["context"]["crumbs"]["texts"], ["uncaught NSRangeException: index 5 beyond bounds [0 .. 2]"])
        names = subprocess.run([tool("llvm-nm"), self.app], stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
        address = {line.split()[-1]: int(line.split()[0], 16) for line in names if len(line.split()) == 3}
        node, offsets = report["event"]["samples"]["node"][0], []
        while node:
            offsets.append(report["frames"]["offset"][report["nodes"]["frame"][node - 1]])
            node -= report["nodes"]["up"][node - 1]
        self.assertEqual(offsets, [address[name] + 7 for name in ("_lay_out_cells", "_scroll", "_app_main")])

    def test_late_frames_of_a_scroll_are_told(self):
        app = self.popen("scroll", self.store)
        self.assertEqual(app.communicate(timeout=300)[0], "woken 0\nflushed\n")
        reports = [self.unpack(path.read_bytes()) for path in (self.store / "out").glob("*.report")]
        report, = [report for report in reports if report["kind"] == "event" and report["event"]["trigger"] == "frames"]
        frames = report["event"]["frames"]
        print("frames:", frames)
        self.assertGreater(frames["dropped"], 100)

    @staticmethod
    def unpack(file):
        """A report of the store: behind a header, whose length is its second word."""
        return json.loads(zlib.decompress(file[8 + int.from_bytes(file[4:8], "little"):], 47))

    def issues(self, mired):
        found = sorted(mired.issues("mac"), key=lambda issue: issue["category"])
        return found if len(found) == 3 else None

    @staticmethod
    def period():
        def at(s):
            return time.strftime("%Y-%m-%d %H:%M:%S +0000", time.gmtime(s))
        return {"timeStampBegin": at(time.time() - 86400), "timeStampEnd": at(time.time())}

    def metrics(self):
        """The exits of two runs."""
        return self.period() | {"appVersion": "1.0", "applicationExitMetrics": {"backgroundExitData": {}, "foregroundExitData": {
            "cumulativeBadAccessExitCount": 1, "cumulativeMemoryResourceLimitExitCount": 1, "cumulativeNormalAppExitCount": 0}}}

    @staticmethod
    def metrics_27():
        """The same in the form of iOS 27."""
        counts = {"foregroundTerminationMetric": {"badAccessTerminationCount": 1, "memoryLimitTerminationCount": 1, "normalTerminationCount": 0}}
        return {"timeRange": {"begin": time.time() - 86400, "end": time.time()}, "environment": {"latestApplicationVersion": "1.0"},
                "intervalEntries": [{"duration": {"value": 86400, "unit": "s"}, "values": [counts]}], "stateEntries": []}

    def payload(self, pid):
        """A hang as MetricKit tells it, in load_cells of the process; the period is of two runs."""
        names = subprocess.run([tool("llvm-nm"), self.app], stdout=subprocess.PIPE, text=True, check=True).stdout
        address = {line.split()[-1]: int(line.split()[0], 16) for line in names.splitlines() if line[0] != " "}
        uuid = subprocess.run([tool("llvm-objdump"), "--macho", "--private-headers", self.app], stdout=subprocess.PIPE, text=True,
                              check=True).stdout.split("uuid ")[1].split()[0]
        frames = [{"binaryName": "memory_app", "binaryUUID": uuid, "address": 0x100000000 + address[name] + 8,
                   "offsetIntoBinaryTextSegment": 0x100000000, "sampleCount": 1} for name in ("_load_cells", "_grow", "_app_main")]
        tree = None
        for frame in reversed(frames):
            tree = frame | ({"subFrames": [tree]} if tree else {})
        stacks = {"callStackPerThread": True, "callStacks": [{"threadAttributed": True, "callStackRootFrames": [tree]}]}
        return self.period() | {"hangDiagnostics": [
            {"diagnosticMetaData": {"hangDuration": "20 sec", "appVersion": "1.0", "pid": pid, "osVersion": "macOS 15.5"}, "callStackTree": stacks}]}

    @staticmethod
    def facts(mired, issue):
        path = f"/apps/mac/issues/{issue['id']}/reports"
        report = mired.get(f"{path}/{mired.get(path)['reports'][0]['id']}")
        return {fact["name"]: fact["value"] for fact in report["facts"]}

    def check_categories(self, mired, issue):
        path = f"/apps/mac/issues/{issue['id']}/reports"
        report = mired.get(path)["reports"][0]
        rows = {row["name"]: row for row in mired.get(f"{path}/{report['id']}/memory")["categories"]}
        for name, mib in (("VM: ImageIO", 48), ("VM: CoreAnimation", 20), ("Malloc 128 KiB", 57.2)):
            self.assertAlmostEqual(rows[name]["live_bytes"] / MIB, mib, delta=0.1, msg=rows[name])
        self.assertNotIn("VM: SQLite", rows) # it ended


if __name__ == "__main__":
    LIBRARY = make_library()
    unittest.main()
