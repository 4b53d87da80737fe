#!/usr/bin/env python3
"""Sessions of programs under mire-run: one a run, counted from the first on, as long as the program ran, and its hangs are those told, held
back and lost. What stays in the background, and how long.

The server here asks for a record of every session, as late as the test wants it to."""
import concurrent.futures
import glob
import http.server
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

BINARY = os.environ["MIRE_BINARY_DIR"]
RUN = os.path.join(BINARY, "sdk/mire-run")
ENDS, LINKED = (os.path.join(BINARY, "tests/integration", name) for name in ("ends", "ends_linked"))
THRESHOLD_MS, HANG_MS = 500, 1000
WANTED = {"mire_rollout": 1, "plugins": {"session": {"ppm": 1000000}}}
REFUSED = {"mire_rollout": 1, "plugins": {"session": {"ppm": 0}}}
PYTHON = sys.executable
WAIT = ("import os,select,subprocess,sys,time\nwait = select.poll().poll\nwait(20)\n"
        "def compute(seconds):\n end = time.monotonic() + seconds\n while time.monotonic() < end: pass\n")
HANG = WAIT + "compute(1)\nwait(20)\n"


def unpack(body):
    return json.loads(subprocess.run(["zstd", "-dcq"], input=body, stdout=subprocess.PIPE, check=True).stdout)


class Server:
    """Takes everything. Answers with a rollout document, once `ready` is set; None: there is none."""

    def __init__(self, document):
        self.document, self.ready, self.papers = document, threading.Event(), []
        self.ready.set()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, status, body, **headers):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                outer.ready.wait(300)
                self.answer(200 if outer.document else 404, json.dumps(outer.document).encode(), ETag='"1"')

            def do_POST(self):
                outer.papers.append(unpack(self.rfile.read(int(self.headers["Content-Length"]))))
                self.answer(202, json.dumps({"report_id": outer.papers[-1]["id"]}).encode())

            def log_message(self, *args):
                pass

        self.httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.httpd.daemon_threads = True
        self.httpd.handle_error = lambda *args: None
        self.url = "http://127.0.0.1:%d" % self.httpd.server_address[1]
        threading.Thread(target=self.httpd.serve_forever, daemon=True).start()

    def of_kind(self, kind):
        return list({paper["id"]: paper for paper in self.papers if paper["kind"] == kind}.values())

    def sessions(self):
        return [paper["session"] for paper in self.of_kind("session")]

    def hangs(self):
        return sum(row["count"] for session in self.sessions() for row in session["hangs"].values())

    def told(self):
        """Hangs that were reported, held back or lost. Perhaps idleness is none."""
        events = [paper["event"] for paper in self.of_kind("event")]
        reports = [event for event in events if event.get("trigger", "busy") in ("busy", "unanswered")
                   and 2 * event.get("unsure_ms", 0) < event["duration_ms"]]
        lost = ("short", "suppressed", "daily", "write", "broken", "big")
        return len(reports) + sum(paper.get("drops", {}).get(reason, 0) for paper in self.papers for reason in lost)

    def close(self):
        self.httpd.shutdown()
        self.httpd.server_close()


class Trial:
    """A store, and a server that wants sessions."""

    def __init__(self, scratch, document=WANTED):
        self.server, self.store = Server(document), tempfile.mkdtemp(dir=scratch)

    def command(self, *program):
        return [RUN, "--store", self.store, "--threshold", str(THRESHOLD_MS), "--period", "20", "--app", "t", "--app-version", "1",
                "--server", self.server.url, "--key", "mk_t", "--"] + list(program)

    def run(self, *program):
        return subprocess.run(self.command(*program), stdout=subprocess.DEVNULL, timeout=300).returncode

    def python(self, code):
        return self.run(PYTHON, "-c", code)

    def begin(self, *program):
        """Start it; the process is given once it has said a line."""
        run = subprocess.Popen(self.command(*program), stdout=subprocess.PIPE, text=True)
        line = run.stdout.readline()
        return run, int(line)

    def waiting(self):
        return glob.glob(self.store + "/session/*")

    def background(self):
        """The mire-run that goes on for what the program left behind: it has the trial's store in its arguments."""
        found = []
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                words = pathlib.Path(path).read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0] == RUN.encode() and self.store.encode() in words:
                found.append(int(path.split("/")[2]))
        return found


def eventually(condition, seconds=300):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)
    return condition()


class SessionsTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="mire-sessions-", dir="/var/tmp")
        self.trials = []

    def tearDown(self):
        for trial in self.trials:
            trial.server.close()
        self.scratch.cleanup()

    def trial(self, document=WANTED):
        self.trials.append(Trial(self.scratch.name, document))
        return self.trials[-1]

    def assert_told(self, trial, sessions, what=""):
        """As many sessions as there were, and their hangs are those told."""
        self.assertEqual(len(trial.server.sessions()), sessions, (what, trial.server.papers))
        self.assertEqual(trial.server.hangs(), trial.server.told(), (what, trial.server.papers))
        self.assertEqual(trial.waiting(), [], what)

    # ---- whether there is a record ----

    def test_the_first_session_counts_though_the_document_comes_after_it(self):
        trial = self.trial()
        trial.server.ready.clear()
        run = subprocess.Popen(trial.command("true"))
        self.assertTrue(eventually(lambda: not glob.glob(f"/proc/{run.pid}/task/*/children") or
                                   not any(pathlib.Path(path).read_text() for path in glob.glob(f"/proc/{run.pid}/task/*/children"))))
        trial.server.ready.set()
        self.assertEqual(run.wait(300), 0)
        self.assert_told(trial, 1)
        self.assertEqual(trial.server.of_kind("session")[0]["sampling"]["session"], 1)

    def test_a_session_waits_until_a_document_wants_it_or_not(self):
        trial = self.trial(None)
        self.assertEqual(trial.python(HANG), 0)
        self.assertEqual((trial.server.sessions(), len(trial.waiting())), ([], 1))
        trial.server.document = WANTED
        self.assertEqual(trial.run("true"), 0)
        self.assert_told(trial, 2)
        self.assertGreaterEqual(trial.server.hangs(), 1)
        trial = self.trial(None)
        self.assertEqual(trial.run("true"), 0)
        trial.server.document = REFUSED
        self.assertEqual(trial.run("true"), 0)
        self.assertEqual((trial.server.sessions(), trial.waiting()), ([], []))

    # ---- how long it was ----

    def test_an_idle_process_that_is_killed_was_there_until_then(self):
        trial = self.trial()
        begin = time.monotonic()
        run, pid = trial.begin(PYTHON, "-uc", WAIT + "print(os.getpid())\nwait(60000)\n")
        said = time.monotonic()
        time.sleep(4)
        killed = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        run.communicate()
        ended = time.monotonic()
        self.assert_told(trial, 1)
        length, = (session["duration_ms"] / 1000 for session in trial.server.sessions())
        self.assertTrue(killed - said - 0.1 <= length <= ended - begin + 0.1, (length, killed - said, ended - begin))

    # ---- what it is made of ----

    def test_a_run_is_one_session_whatever_it_is_made_of(self):
        helper = f"{PYTHON} -c 'import select; select.poll().poll(5)'"
        cases = {
            "helpers of a shell": ("sh", "-c", f"{helper}; {helper}; {PYTHON} -c '{HANG}'; {helper}"),
            "executed by a shell": ("sh", "-c", f"{helper}; exec {PYTHON} -c '{HANG}'"),
            "executed thrice": (PYTHON, "-c", WAIT + f"os.execvp('sh', ['sh', '-c', '''exec {PYTHON} -c \"{HANG}\"'''])"),
            "a server that forks": (PYTHON, "-c", WAIT + "for i in range(6):\n if os.fork() == 0:\n  wait(20)\n  if i == 3: compute(1)\n"
                                    "  wait(20)\n  os._exit(0)\nfor i in range(6): os.wait()\nwait(20)\n"),
            "a helper that is killed": (PYTHON, "-c", WAIT + "if os.fork() == 0:\n wait(20)\n compute(1)\n os.kill(os.getpid(), 9)\n"
                                        "os.wait()\nwait(20)\n"),
            "without a loop": ("sh", "-c", "true; true"),
        }

        def run(case):
            trial = self.trial()
            trial.run(*cases[case])
            return case, trial

        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for case, trial in pool.map(run, cases):
                self.assert_told(trial, 1, case)
                session, = trial.server.sessions()
                self.assertEqual(session["loop"], case != "without a loop", case)
                self.assertEqual(trial.server.hangs() >= 1, case != "without a loop", case)

    def test_a_record_tells_launch_memory_and_cpu_time(self):
        trial = self.trial()
        trial.python("import time\nwhile time.process_time() < 0.7: pass\nheld = b'x' * (64 << 20)\n" + WAIT + "wait(20)\n")
        session, = trial.server.sessions()
        self.assertGreaterEqual(session["cpu_ms"], 400)  # what ran before the watch began is not in it
        self.assertGreaterEqual(session["launch_ms"], 700)
        self.assertTrue(64 << 20 <= session["footprint_peak_bytes"] < 1 << 30, session)
        self.assertNotIn("frames", session)

    def test_its_hangs_are_those_told_however_it_ends(self):
        ways = [(way, threads) for way in ("exit", "_exit", "kill", "thread", "exec", "none") for threads in ("0", "3")]

        def run(way):
            trial = self.trial()
            trial.run(ENDS, way[0], str(HANG_MS), way[1])
            return way, trial

        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for way, trial in pool.map(run, ways):
                self.assert_told(trial, 1, way)
                self.assertGreaterEqual(trial.server.hangs(), 1, way)

    def test_a_process_with_libmire_is_a_session_whatever_it_executes(self):
        """Told by the next start, if a document wants it then: the first one of an installation too."""

        def run(way):
            store = tempfile.mkdtemp(dir=self.scratch.name)
            env = dict(os.environ, MIRE_STORE=store)
            subprocess.run([LINKED, way, str(HANG_MS)], env=env, timeout=300)
            pathlib.Path(store, "rollout").write_text("\n" + json.dumps(WANTED))
            subprocess.run([LINKED, "none", "0"], env=env, timeout=300, check=True)
            return way, [unpack(pathlib.Path(path).read_bytes()) for path in glob.glob(store + "/out/*.report")]

        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for way, papers in pool.map(run, ("exit", "_exit", "kill", "thread", "exec", "none")):
                sessions = [paper["session"] for paper in papers if paper["kind"] == "session"]
                self.assertEqual(len(sessions), 1, (way, papers))
                hangs = sum(row["count"] for row in sessions[0]["hangs"].values())
                self.assertEqual(hangs, len(papers) - 1, (way, papers))
                self.assertGreaterEqual(hangs, 1, way)
                self.assertGreaterEqual(sessions[0]["duration_ms"], HANG_MS, way)

    def test_what_is_held_back_counts(self):
        trial = self.trial()
        self.assertEqual(trial.python(WAIT + "for i in range(4):\n compute(0.7)\n wait(20)\n"), 0)
        self.assertEqual(trial.run("true"), 0)  # tells what was held back after the last report
        self.assert_told(trial, 2)
        self.assertGreaterEqual(trial.server.hangs(), 4)

    # ---- what outlives it ----

    def test_a_service_that_stays_is_a_session_of_its_own_with_all_that_it_starts(self):
        trial = self.trial()
        daemon = WAIT + "subprocess.run([sys.executable, '-c', '''" + HANG + "'''])\nwait(1000)\n"
        code = "import os\nif os.fork(): os._exit(5)\nos.setsid()\n" + daemon
        self.assertEqual(trial.python(code), 5)
        self.assertEqual(len(trial.background()), 1)
        self.assertTrue(eventually(lambda: not trial.background()))
        self.assert_told(trial, 2)
        self.assertEqual(sorted(session["loop"] for session in trial.server.sessions()), [False, True])
        self.assertGreaterEqual(trial.server.hangs(), 1)

    def test_workers_of_a_killed_program_end_its_session(self):
        trial = self.trial()
        code = "import os,signal,time\nif os.fork(): time.sleep(0.5); os.kill(os.getpid(), signal.SIGKILL)\n" + HANG + "wait(300)\n"
        self.assertEqual(trial.python(code), 128 + signal.SIGKILL)
        self.assertTrue(eventually(lambda: not trial.background()))
        self.assert_told(trial, 1)
        self.assertGreaterEqual(trial.server.hangs(), 1)
        self.assertEqual([session["loop"] for session in trial.server.sessions()], [True])

    def test_a_launcher_is_waited_for_only_if_what_it_started_waits_for_events(self):
        trial = self.trial()
        service = os.path.join(trial.store, "service.py")
        pathlib.Path(service).write_text("import time\ntime.sleep(1)\n" + HANG)
        self.assertEqual(trial.run("sh", "-c", f"{PYTHON} {service} & exit 3"), 3)
        self.assertTrue(eventually(lambda: not trial.background()))
        self.assert_told(trial, 2)
        self.assertEqual(trial.run("sh", "-c", "sleep 2 & exit 3"), 3)
        self.assertTrue(eventually(lambda: not trial.background()))
        self.assert_told(trial, 3, "sleep is no session")

    def test_what_a_program_with_a_loop_only_started_is_not_waited_for(self):
        trial = self.trial()
        code = (WAIT + "if os.fork() == 0:\n os.setsid()\n if os.fork(): os._exit(0)\n os.closerange(0, 3)\n"
                " os.execvp('perl', ['perl', '-e', 'select(undef, undef, undef, 600)'])\nos.wait()\nwait(500)\n")
        self.assertEqual(trial.python(code), 0)
        left = [int(path.split("/")[2]) for path in glob.glob("/proc/[0-9]*/environ")
                if self.is_of(path, trial.store) and int(path.split("/")[2]) != os.getpid()]
        self.assertEqual(trial.background(), [])
        self.assertEqual(len(left), 1, "the helper lives on")
        os.kill(left[0], signal.SIGKILL)
        self.assertTrue(eventually(lambda: not os.path.exists(f"/proc/{left[0]}")))
        self.assert_told(trial, 1)
        self.assertEqual(trial.run("true"), 0)
        self.assert_told(trial, 2, "nor is its end told by the next run")

    @staticmethod
    def is_of(path, store):
        try:
            return store.encode() in pathlib.Path(path).read_bytes()
        except OSError:
            return False

    def test_a_program_that_outlives_its_mire_run_is_told_by_the_next_start(self):
        trial = self.trial()
        run, pid = trial.begin(PYTHON, "-uc", HANG + "print(os.getpid())\nwait(60000)\n")
        run.kill()
        run.wait()
        run.stdout.close()
        self.assertEqual(trial.run("true"), 0)
        self.assertEqual(len(trial.server.sessions()), 1, "it goes on")
        time.sleep(1)
        os.kill(pid, signal.SIGKILL)
        self.assertTrue(eventually(lambda: not os.path.exists(f"/proc/{pid}")))
        self.assertEqual(trial.run("true"), 0)
        self.assert_told(trial, 3)
        self.assertGreaterEqual(trial.server.hangs(), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
