#!/usr/bin/env python3
"""Android's Java layer on a JVM, with Android's own Looper: hangs, an idle app, leaked barriers, frames, ends of runs.

    android_looper.py VERSION API    of org.robolectric:android-all (tests/android/fetch.sh), and its API level
"""
import gzip
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
from sdk_run import BINARY, OK, SCHEMA, SOURCE, Server, check, unpack

CLI = os.path.join(BINARY, "server", "mire")
HERE = pathlib.Path(SOURCE) / "tests" / "android"
LAYER = pathlib.Path(SOURCE) / "sdk" / "android" / "java"
OUT = pathlib.Path(BINARY) / "android"
API = int(sys.argv.pop())
VERSION = sys.argv.pop()
TOUCH = ("touch",) if API >= 29 else ()  # before, its events need arrays of ART
COMPILED = "14-robolectric-10818077"  # as the AAR is: API level 34


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def fetch(version):
    done = subprocess.run([HERE / "fetch.sh", version], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == 77:
        skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout
    return done.stdout.strip()


def find_java():
    """Java 17 runs the classes of Android up to 14."""
    if API < 36:
        return "java"
    done = subprocess.run([HERE / "java21.sh"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == 77:
        skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout
    return done.stdout.strip()


def compile_java(jar):
    """The layer for Java 8, as the AAR has it, then the app on it, with what stands before the framework."""
    classes = OUT / ("classes-" + VERSION)
    shutil.rmtree(classes, ignore_errors=True)
    sources = [str(path) for folder in (LAYER, HERE) for path in folder.rglob("*.java")]
    subprocess.run(["javac", "-nowarn", "--release", "8", "-Xlint:-options", "-cp", jar, "-d", classes, *sources], check=True,
                   stderr=subprocess.PIPE if os.environ.get("CI") is None else None)
    return classes


if not shutil.which("javac"):
    skip("no JDK: deploy/need.sh test")
if not (OUT / "libmire.so").exists():
    skip("built without a JDK's headers")
JAR = fetch(VERSION)
CLASSES = compile_java(fetch(COMPILED))
JAVA = find_java()


def texts_of(report, node):
    """A stack, innermost first: Class.method of Java, the module's name of other frames."""
    found = []
    while node:
        frame = report["nodes"]["frame"][node - 1]
        image, offset = report["frames"]["image"][frame], report["frames"]["offset"][frame]
        if image >= 0 and report["images"][image].get("java"):
            java = report["java"]
            found.append(java["texts"][java["class"][offset]] + "." + java["texts"][java["method"][offset]])
        else:
            found.append(os.path.basename(report["images"][image]["name"]) if image >= 0 else "?")
        node -= report["nodes"]["up"][node - 1]
    return found


class App:
    """A run of the app, from its start on."""

    def __init__(self, *scenarios, removes=False, store=None, end=None, trace=None, memory=0):
        """store: of an earlier run, whose record is `end`, with that trace; "": none yet."""
        self.scratch = tempfile.TemporaryDirectory(prefix="mire-looper-")
        self.store = store or os.path.join(self.scratch.name, "store")
        self.server = Server(OK)
        records = [] if end is None else ["-Dmire.records=true"] + ([f"-Dmire.end={end}"] if end else [])
        if trace:
            packed = pathlib.Path(self.scratch.name, "trace.gz")
            packed.write_bytes(gzip.compress(trace))
            records.append(f"-Dmire.trace={packed}")
        self.process = subprocess.Popen(
            [JAVA, "-Xshare:auto", "-XX:TieredStopAtLevel=1", f"-Dmire.removes={str(removes).lower()}", f"-Dmire.memory={memory}", f"-Dmire.input={OUT}/libinput.so",
             f"-Dmire.idle={os.environ.get('MIRE_IDLE_S', 20)}", f"-Djava.library.path={OUT}", *records,
             "-cp", f"{CLASSES}:{JAR}", "Main", OUT / "liblooper.so", self.server.url, self.store, *scenarios],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "ANDROID_API": str(API), "EXTERNAL_STORAGE": "/sdcard"})

    def kill_stuck(self):
        """Kill the app some time after its loop got stuck. Returns the name of its run, as the system has it."""
        run = self.process.stdout.readline().split()[1]
        assert self.process.stdout.readline() == "stuck 0\n"
        time.sleep(3)
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()
        self.server.close()
        return run

    def end(self):
        """The app's words by name, of two hangs of one name the first; and the reports of events, oldest first.

        A busy machine may take longer than the threshold from the start to the loop: that hang is left out.
        """
        out, err = self.process.communicate(timeout=200)
        assert self.process.returncode == 0, err[-2000:] + out
        said = {}
        for line in out.splitlines():
            said.setdefault(*line.split(" ", 1))
        assert said.pop("flushed") == "true"
        self.server.close()
        reports = [report for report in self.server.reports() if report["kind"] == "event" and not report["event"]["launch"]]
        for report in reports:
            check(report)
        return said, sorted(reports, key=lambda report: report["event"]["begin_ns"])

    def bodies(self):
        return [body for body, report in zip(self.server.bodies, self.server.reports()) if report["kind"] == "event"]


class LooperTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """All at once: most of their time they wait."""
        apps = {"hangs": App("message", "handler", "idler", "printer"), "leak": App("barrier"),
                "removed": App("barrier", removes=True), "idle": App("idle"), "frames": App("frames"),
                "wrapped": App("wrapped"), "monitor": App("monitor"), "loops": App("second", "nested", "both", "tick", *TOUCH)}
        cls.runs = {name: app.end() for name, app in apps.items()}
        cls.bodies = apps["hangs"].bodies()

    @unittest.skipUnless(API >= 30, "the system keeps no records before Android 11")
    def test_the_systems_record_decides_the_verdict(self):
        """A process is killed while it hangs; the next start is told why by the system."""
        records = {"6 0 user request after error": "watchdog_kill", "3 0 null": "foom", "10 0 stop com.example": "user_quit"}
        firsts = {record: App("ever", end="") for record in records}
        runs = {record: first.kill_stuck() for record, first in firsts.items()}
        anr = (pathlib.Path(SOURCE) / "tests/fuzz/corpus/anr/three-threads").read_bytes()
        nexts = {record: App("none", store=firsts[record].store, end=f"{runs[record]} {record}", trace=anr) for record in records}
        for record, verdict in records.items():
            said, reports = nexts[record].end()
            killed = [report for report in reports if "exit" in report]
            self.assertEqual([report["exit"]["verdict"] for report in killed], [verdict], record)
            self.assertEqual(said["previous"], verdict)
            self.assertEqual(bytes.fromhex(killed[0].get("trace", "")), anr if record.startswith("6 ") else b"")
            self.assertRegex(said["run"], "^[0-9a-f]{32}$")
            self.assertNotEqual(said["run"], runs[record])
            self.assertEqual(killed[0]["event"].get("message"), "android.os.Handler, dev.mire.LooperApp lambda")
            # unknown, exit, signal, low memory, crash, native crash, ANR, start, permission, excess, user, user's end, dependency, other, freezer,
            # package's state, package's update, one of later systems; the limit of memory; signals that are none
            self.assertEqual(said["reasons"], "0 1 2 5 3 2 4 3 8 9 7 7 9 9 9 8 8 9 6 0 3")

    def test_dropped_frames_are_told_with_their_stacks(self):
        said, reports = self.runs["frames"]
        self.assertEqual(said, {})
        self.assertEqual([report["event"]["trigger"] for report in reports], ["frames"])
        stacks = [texts_of(reports[0], node) for node in reports[0]["event"]["samples"]["node"]]
        told = [stack for stack in stacks if "Main.main" in stack]
        self.assertGreaterEqual(sum("dev.mire.LooperApp.layOut" in stack for stack in told), 0.5 * len(told))

    @unittest.skipUnless(API >= 30, "the system keeps no records before Android 11")
    def test_an_idle_main_thread_blames_nobody_and_the_message_before_is_named(self):
        first = App("over", end="")
        run = first.kill_stuck()
        idle = (pathlib.Path(SOURCE) / "tests/fuzz/corpus/anr/idle").read_bytes()
        then = App("none", store=first.store, end=f"{run} 6 0 user request after error", trace=idle)
        _, reports = then.end()
        late, = [report for report in reports if "trace" in report]
        self.assertEqual(late["exit"]["verdict"], "watchdog_kill")
        self.assertRegex(late["notes"][0], "^the slow message before: android.os.Handler, dev.mire.LooperApp lambda, 1[0-9]{3} ms, over [0-9]+ ms before")
        if os.path.exists(CLI):
            body = next(body for body in then.bodies() if "trace" in unpack(body))
            with tempfile.NamedTemporaryFile() as out:
                out.write(body)
                out.flush()
                said = subprocess.run([CLI, "show", out.name], stdout=subprocess.PIPE, text=True, check=True).stdout
            self.assertRegex(said, r"(?m)^kind +idle, ")
            self.assertRegex(said, r"(?m)^note +the slow message before: ")
            self.assertNotRegex(said, r"(?m)^Caller[12] +dev\.mire\.")

    def assert_hang(self, report, said, name, message, inner, outer):
        """One hang: its length is the app's own, its message, and Java frames from `inner` to `outer` in most samples."""
        event = report["event"]
        self.assertEqual(event["trigger"], "busy")
        self.assertAlmostEqual(event["duration_ms"], int(said[name]), delta=max(150, int(said[name]) * 0.15))
        self.assertEqual(event.get("message"), message)
        self.assertEqual(report["context"]["scene"], "CartActivity")
        self.assertEqual([report["device"][name] for name in ("model", "os", "os_version")], ["Testphone 3", "android", "99"])
        self.assertEqual(report["context"]["crumbs"]["texts"][0], "gr\u00f6\u00dfer \U0001f600")
        stacks = [texts_of(report, node) for node in event["samples"]["node"]]
        told = [stack for stack in stacks if "Main.main" in stack]  # on a busy machine the virtual machine may be too late
        self.assertGreaterEqual(len(told), max(2, len(stacks) * 0.2), stacks[-1])
        stray = max(1, 0.2 * len(told))  # taken while the loop was on its way out of its wait, or into it
        self.assertGreaterEqual(sum(self.holds(stack, inner, outer) for stack in told), len(told) - stray, told[-1])

    @staticmethod
    def holds(stack, inner, outer):
        return inner in stack and outer in stack and stack.index(inner) < stack.index(outer)

    @staticmethod
    def last_crumb(report):
        return report["context"]["crumbs"]["texts"][-1]

    def test_hangs_are_told_and_named(self):
        said, reports = self.runs["hangs"]
        self.assertEqual(len(reports), 4, [(r["event"].get("message"), r["event"]["duration_ms"]) for r in reports])
        by = {report["event"].get("message", ""): report for report in reports}
        app = "dev.mire.LooperApp"
        first, last = [r for r in reports if r["event"].get("message", "").endswith("CartLoader")]
        loads = f"android.os.Handler, {app}$CartLoader"
        self.assert_hang(first, said, "message", loads, f"{app}$CartLoader.parseCart", "android.os.Looper.loop")
        self.assertGreaterEqual(last["event"]["duration_ms"], 1450)  # the app's own printer is a part of the message
        self.assert_hang(by[f"{app}$SearchHandler, what 7"], said, "handler", f"{app}$SearchHandler, what 7",
                         f"{app}$SearchHandler.openIndex", "android.os.Looper.loop")
        idler = f"idle handler {app}$Preload"
        self.assert_hang(by[idler], said, "idler", idler, f"{app}$Preload.warmCaches", "android.os.MessageQueue.next")

    def test_a_monitors_holder_is_told_with_its_stack(self):
        said, reports = self.runs["monitor"]
        report, = reports
        ledger = "dev.mire.LooperApp$Ledger"
        self.assert_hang(report, said, "monitor", f"android.os.Handler, {ledger}", f"{ledger}.sum", "android.os.Looper.loop")
        crumbs = report["context"]["crumbs"]["texts"]
        self.assertIn(f"waits for a monitor in {ledger}.sum", crumbs)
        at = crumbs.index("the thread ledger-writer may hold it:")
        self.assertIn(f"  {ledger}.writePages", crumbs[at:])
        self.assertEqual(len([crumb for crumb in crumbs if "waits for a monitor" in crumb]), 1)

    def test_another_watchers_printer_around_ours_gets_its_lines(self):
        said, reports = self.runs["wrapped"]
        self.assertEqual(said["wrapped"], "true")
        report, = reports
        loads = "dev.mire.LooperApp$CartLoader"
        self.assert_hang(report, said, "message", f"android.os.Handler, {loads}", f"{loads}.parseCart", "android.os.Looper.loop")

    def test_native_frames_join_those_of_java(self):
        report = next(r for r in self.runs["hangs"][1] if r["event"].get("message", "").endswith("what 7"))
        stacks = [texts_of(report, node) for node in report["event"]["samples"]["node"] if node]
        asleep = next(stack for stack in stacks if "Main.main" in stack)  # not one whose virtual machine was too late
        sleep = next(i for i, text in enumerate(asleep) if text.startswith("java.lang.Thread.sleep"))
        self.assertTrue(all(not text.startswith(("java.", "android.", "dev.")) for text in asleep[:sleep]), asleep)
        self.assertIn("libc.so.6", asleep[:sleep])
        self.assertIn("Main.main", asleep)
        self.assertNotIn("libjvm.so", asleep[sleep:asleep.index("Main.main")])

    def test_leaked_barrier_is_told_once(self):
        said, reports = self.runs["leak"]
        self.assertEqual(said["answers"], "false")
        self.assertEqual([r["event"].get("name") for r in reports], ["sync barrier leaked"])
        self.assertRegex(self.last_crumb(reports[0]), "^a sync barrier held up messages for [0-9]+ ms; it is still there$")

    def test_leaked_barrier_is_removed_if_asked(self):
        said, reports = self.runs["removed"]
        self.assertEqual(said["answers"], "true")
        self.assertEqual([r["event"].get("name") for r in reports], ["sync barrier leaked"])
        self.assertRegex(self.last_crumb(reports[0]), "; it is removed$")

    def test_idle_app_tells_nothing_and_wakes_nothing(self):
        said, reports = self.runs["idle"]
        self.assertEqual(reports, [])
        before, after = (dict(word.split("=") for word in said[name].split()) for name in ("before", "after"))
        self.assertGreaterEqual(set(before), {"mire-check", "mire-java", "mire-send", "mire-worker"})
        self.assertEqual(set(after), set(before))
        # A busy machine runs late whatever the start left to do. Anything periodic, of ten seconds or less, is seen twice.
        more = {name: int(after[name]) - int(before[name]) for name in after}
        self.assertLessEqual(max(more.values()), 1, more)

    def named(self, reports, message):
        return [report for report in reports if report["event"].get("message") == message]

    def test_loops_within_loops_and_beside_each_other(self):
        said, reports = self.runs["loops"]
        app = "dev.mire.LooperApp"
        self.assertEqual(len(reports), 4 + len(TOUCH), [(r["event"].get("message"), r["event"]["duration_ms"]) for r in reports])
        loads = self.named(reports, f"android.os.Handler, {app}$CartLoader")
        self.assertEqual(len(loads), 2)  # in the loop within a message, and while another looper was busy
        self.assert_hang(loads[0], said, "message", f"android.os.Handler, {app}$CartLoader", f"{app}$CartLoader.parseCart", f"{app}$Dialog.run")
        dialog = f"android.os.Handler, {app}$Dialog"
        self.assert_hang(self.named(reports, dialog)[0], said, "dialog", dialog, f"{app}$Dialog.closeDialog", "android.os.Looper.loop")
        tick, = self.named(reports, f"android.os.Handler, {app}$Tick")  # the app's own printer is a part of the message
        self.assertGreaterEqual(tick["event"]["duration_ms"], 1150)
        for touch in self.named(reports, "input"):
            crumb = self.last_crumb(touch)
            self.assertRegex(crumb, "^input waited [0-9]+ ms for its answer$")
            self.assertAlmostEqual(int(crumb.split()[2]), int(said["touch"]), delta=max(100, int(said["touch"]) * 0.1))
            self.assert_hang(touch, said, "touch", "input", f"{app}$Touch.zoomMap", "android.view.InputEventReceiver.dispatchInputEvent")

    @unittest.skipUnless(os.path.exists(CLI), "built without the server")
    def test_the_server_blames_the_handler(self):
        with tempfile.NamedTemporaryFile() as out:
            out.write(next(body for body in self.bodies if unpack(body)["event"].get("message", "").endswith("what 7")))
            out.flush()
            said = subprocess.run([CLI, "show", out.name], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertRegex(said, r"(?m)^Caller1 +dev\.mire\.LooperApp\$SearchHandler\.openIndex ")
        self.assertRegex(said, r"(?m)^Caller2 +dev\.mire\.LooperApp\$SearchHandler\.handleMessage ")
        self.assertRegex(said, r"(?m)^message +dev\.mire\.LooperApp\$SearchHandler, what 7$")


class SystemTest(unittest.TestCase):
    """What the system measures and makes."""

    def test_memory_reports_have_what_the_system_measures(self):
        app = App("memory", memory=1)
        self.assertEqual(app.end()[0], {"asked": "true"})
        report, = [report for report in app.server.reports() if report["kind"] == "memory"]
        SCHEMA.validate(report)
        rows = report["memory"]["categories"]
        gauges = {name: (size, count) for name, kind, size, count in zip(rows["name"], rows["kind"], rows["live_bytes"], rows["live_count"]) if kind == 4}
        self.assertEqual(gauges["Java heap"], (4096 * 1024, 0))
        self.assertEqual(gauges["Native heap"], (2048 * 1024, 0))
        self.assertGreaterEqual(set(gauges), {"Graphics", "Code", "Stacks", "Other private", "System", "Threads", "Descriptors"})
        self.assertTrue(10 < gauges["Threads"][1] < 200 and 5 < gauges["Descriptors"][1] < 1000, gauges)

    @unittest.skipUnless(API >= 36, "the system has no triggers before Android 16")
    def test_the_system_is_asked_for_profiles(self):
        said, reports = App("profile").end()
        self.assertEqual({name for name in said if name.startswith("trigger")}, {"trigger2", "trigger7", "trigger8"} if API >= 37 else {"trigger2"})
        self.assertEqual("warned" in said, API >= 37)
        self.assertIn("the system made a profile: /data/profile.perfetto-trace", reports[0]["context"]["crumbs"]["texts"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
