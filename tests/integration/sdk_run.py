#!/usr/bin/env python3
"""mire-run from the outside: programs hang, are killed, fork and exit; servers lose answers, are busy and refuse.

Every report that arrives is checked against schema/wire/report.schema.json and against what the schema cannot say.
"""
import glob
import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import jsonschema


def read(path):
    return pathlib.Path(path).read_text()


def kept(path):
    """A small file of the store, without its frame (sdk/src/store/frame.h)."""
    file = pathlib.Path(path).read_bytes()
    return file[8 + int.from_bytes(file[4:8], "little"):].decode()


SOURCE = os.environ["MIRE_SOURCE_DIR"]
BINARY = os.environ["MIRE_BINARY_DIR"]
RUN = os.path.join(BINARY, "sdk", "mire-run")
SCHEMA = jsonschema.Draft202012Validator(json.loads(read(os.path.join(SOURCE, "schema/wire/report.schema.json"))))
KEY = "mk_test"

# Programs that know nothing of Mire. The first waits once, so that its loop has been seen, then sleeps. On a busy machine
# the start of an interpreter takes long, so a launch has a threshold of its own (setUpModule).
THRESHOLD_MS = 500
HANG_MS = 1000
HANG = "import select,sys,time\nselect.poll().poll(20)\ntime.sleep(1)\nselect.poll().poll(20)\n"
STUCK = "import select,sys,time\nselect.poll().poll(20)\nprint('stuck',flush=True)\ntime.sleep(60)\n"


def unpack(body):
    return json.loads(subprocess.run(["zstd", "-dcq"], input=body, stdout=subprocess.PIPE, check=True).stdout)


def check(report):
    SCHEMA.validate(report)
    nodes, frames, samples = report["nodes"], report["frames"], report["event"]["samples"]
    assert len(frames["image"]) == len(frames["offset"]) == len(frames["found"])
    assert len(nodes["up"]) == len(nodes["frame"])
    assert len(samples["at_ms"]) == len(samples["weight_ms"]) == len(samples["node"]) == len(samples["state"])
    assert len(samples["syscall"]) == len(samples["state"])
    assert all(image < len(report["images"]) for image in frames["image"])
    assert all(frame < len(frames["image"]) for frame in nodes["frame"])
    assert all(up <= row + 1 for row, up in enumerate(nodes["up"]))
    assert all(node <= len(nodes["up"]) for node in samples["node"])
    assert samples["at_ms"] == sorted(samples["at_ms"])
    assert set(range(len(report["images"]))) == {image for image in frames["image"] if image >= 0}


def ack(body):
    """What mired answers to a report that it has stored."""
    return json.dumps({"report_id": unpack(body)["id"]}).encode()


class Server:
    """Answers POSTs in turn with `answers` (status, headers), the last for ever. None: hangs up without an answer."""

    def __init__(self, *answers):
        self.answers, self.bodies, self.times, self.headers = list(answers), [], [], []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.bodies.append(body)
                outer.times.append(time.monotonic())
                outer.headers.append((self.path, dict(self.headers)))
                answer = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                if answer is None:
                    self.close_connection = True
                    return
                if callable(answer):
                    answer()
                    answer = (202, {})
                self.send_response(answer[0])
                for name, value in answer[1].items():
                    self.send_header(name, value)
                text = ack(body) if answer[0] == 202 else b""
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *args):
                pass

        self.httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.httpd.daemon_threads = True
        self.httpd.handle_error = lambda *args: None  # clients here are killed on purpose
        self.url = "http://127.0.0.1:%d" % self.httpd.server_address[1]
        threading.Thread(target=self.httpd.serve_forever, daemon=True).start()

    def reports(self):
        return [unpack(body) for body in self.bodies]

    def close(self):
        self.httpd.shutdown()
        self.httpd.server_close()


OK = (202, {})


def build_leaver(folder):
    """A program whose first thread leaves, as argv[1] says, while another sleeps argv[2] milliseconds."""
    path = os.path.join(folder, "leaver")
    subprocess.run([os.environ.get("CC", "cc"), "-o", path, os.path.join(SOURCE, "tests/programs/own/leaver.c"), "-pthread"],
                   check=True)
    return path


def setUpModule():
    os.environ["MIRE_SETTINGS"] = "launch_ms=60000"


def eventually(condition):
    until = time.monotonic() + 300
    while not (seen := condition()) and time.monotonic() < until:
        time.sleep(0.05)
    return seen


def state(pid):
    return read("/proc/%d/stat" % pid).rsplit(")", 1)[1].split()[0]


def child_of(pid):
    return int(read("/proc/%d/task/%d/children" % (pid, pid)))


class RunTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="mire-run-")
        self.store = os.path.join(self.scratch.name, "store")
        self.servers = []

    def tearDown(self):
        for server in self.servers:
            server.close()
        self.scratch.cleanup()

    def server(self, *answers):
        self.servers.append(Server(*answers))
        return self.servers[-1]

    def command(self, server, *program, options=()):
        command = [RUN, "--store", self.store, "--threshold", str(THRESHOLD_MS), "--period", "10", "--app", "t", "--app-version", "1"]
        if server:
            command += ["--server", server.url if isinstance(server, Server) else server, "--key", KEY]
        return command + list(options) + ["--"] + list(program)

    def run_it(self, server, *program, options=(), env=None):
        return subprocess.run(self.command(server, *program, options=options), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=300, env=env)

    def python(self, server, code, **rest):
        return self.run_it(server, sys.executable, "-c", code, **rest)

    def waiting(self):
        return sorted(glob.glob(os.path.join(self.store, "out", "*.report")))

    def test_a_hang_is_reported_once(self):
        server = self.server(OK)
        done = self.python(server, HANG + "sys.exit(7)")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "", ""))
        self.assertEqual(len(server.bodies), 1)
        path, headers = server.headers[0]
        self.assertEqual(path, "/api/v1/reports")
        self.assertEqual(headers["Authorization"], "Bearer " + KEY)
        self.assertEqual(headers["Content-Encoding"], "zstd")
        report = server.reports()[0]
        check(report)
        self.assertFalse(report["event"]["open"])
        self.assertGreaterEqual(report["event"]["duration_ms"], HANG_MS)
        self.assertGreater(len(report["event"]["samples"]["node"]), 5)
        self.assertLessEqual(len(server.bodies[0]), 8192)
        self.assertEqual(self.waiting(), [])
        self.assertEqual(os.listdir(os.path.join(self.store, "box")), [])

    def test_no_hang_no_report(self):
        server = self.server(OK)
        self.assertEqual(self.python(server, "print('fine')").stdout, "fine\n")
        self.assertEqual(server.bodies, [])

    def test_a_program_killed_while_it_hangs_is_reported_as_open(self):
        server = self.server(OK)
        run = subprocess.Popen(self.command(server, sys.executable, "-c", STUCK), stdout=subprocess.PIPE)
        run.stdout.readline()
        time.sleep(4 * THRESHOLD_MS / 1000)
        child = child_of(run.pid)
        os.kill(child, signal.SIGKILL)
        self.assertEqual(run.wait(300), 128 + signal.SIGKILL)
        run.stdout.close()
        report, = server.reports()
        check(report)
        self.assertTrue(report["event"]["open"])
        self.assertGreaterEqual(report["event"]["duration_ms"], THRESHOLD_MS)
        self.assertEqual(report["process"]["pid"], child)

    def test_a_program_that_exits_while_it_hangs_was_not_killed(self):
        server = self.server(OK)
        self.python(server, "import select,time,sys\nselect.poll().poll(20)\ntime.sleep(1)\nsys.exit(0)")
        report, = server.reports()
        check(report)
        self.assertFalse(report["event"]["open"])
        self.assertGreaterEqual(report["event"]["duration_ms"], 900)
        with open("/etc/os-release") as file:
            system = dict(line.strip().split("=", 1) for line in file if "=" in line)
        self.assertEqual(report["device"]["os_version"],
                         " ".join(system[name].strip("\"'") for name in ("ID", "VERSION_ID") if name in system))

    def test_a_program_without_a_loop_that_ends_itself_is_no_hang(self):
        server = self.server(OK)
        source = os.path.join(self.scratch.name, "raw.c")
        with open(source, "w") as file:
            file.write("#define _GNU_SOURCE\n#include <unistd.h>\n#include <sys/syscall.h>\n"
                       "int main(int argc, char **argv)\n{ char *next[] = {argv[0], 0};\n"
                       "usleep(800000); if (argc > 1) syscall(SYS_execve, argv[0], next, environ);\n"
                       "syscall(SYS_exit_group, 3); }\n")
        subprocess.run(["cc", "-o", source[:-2], source], check=True)
        calls = [["sh", "-c", "sleep 0.8; exit 3"], ["bash", "-c", "sleep 0.8; exit 3"], [source[:-2]], [source[:-2], "again"],
                 [sys.executable, "-c", "import os,time; time.sleep(0.8); os._exit(3)"],
                 ["sh", "-c", "sleep 0.8; exec sh -c 'sleep 0.7; exec " + source[:-2] + "'"],
                 [sys.executable, "-c", "import os,time; time.sleep(0.8); os.execlp('sh', 'sh', '-c', 'exit 3')"],
                 ["perl", "-e", "use POSIX; sleep 1; POSIX::_exit(3)"]]
        for program in calls:
            done = self.run_it(server, *program)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "", ""), program)
            self.assertEqual(server.bodies, [], program)
        self.assertEqual(os.listdir(os.path.join(self.store, "box")), [])

    def test_the_launch_of_an_executed_program_begins_with_its_execution(self):
        """A wrapper rests before it executes the program, whose launch is slow."""
        rest_ms, wrapper = 2500, os.path.join(self.scratch.name, "wrapper")
        program = os.path.join(self.scratch.name, "slow.py")
        with open(program, "w") as file:
            file.write("import select, time\nend = time.monotonic() + 1\nwhile time.monotonic() < end: pass\nselect.poll().poll(20)\n")
        words = f"{sys.executable} {program}"
        with open(wrapper, "w") as file:
            file.write(f"sleep {rest_ms / 1000}\nexec {words}\n")
        python = f"import os, time; time.sleep({rest_ms / 1000}); os.%s"
        for command in (["sh", wrapper], ["bash", wrapper], [sys.executable, "-c", python % f"execl('{sys.executable}', *'{words}'.split())"],
                        [sys.executable, "-c", python % f"execve('{sys.executable}', '{words}'.split(), dict(os.environ))"]):
            server = self.server(OK)
            begin = time.monotonic()
            self.assertEqual(self.run_it(server, *command, env=dict(os.environ, MIRE_SETTINGS="launch_ms=500 suppress_ms=0 daily_cap=9")).returncode, 0)
            took_ms = (time.monotonic() - begin) * 1000
            report, = server.reports()
            check(report)
            self.assertTrue(report["event"]["launch"])
            self.assertTrue(1000 <= report["event"]["duration_ms"] <= took_ms - rest_ms, (command[0], report["event"]["duration_ms"], took_ms))
            self.assertLessEqual(report["event"]["thread"]["cpu_ms"], report["event"]["duration_ms"] + 10)

    def test_children_that_share_memory_leave_the_parents_hang_alone(self):
        server = self.server(OK)
        code = ("import select,subprocess,os,time,signal\nfor i in range(5): select.poll().poll(20)\nend = time.time() + 1.2\n"
                "while time.time() < end:\n"
                " assert subprocess.call(['true']) == 0\n"
                " assert os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)[1] == 0\n"
                " try: subprocess.call(['/nonexistent'])\n except OSError: pass\n"
                "os.kill(os.getpid(), signal.SIGKILL)\n")
        self.assertEqual(self.python(server, code).returncode, 128 + signal.SIGKILL)
        report, = server.reports()
        check(report)
        self.assertTrue(report["event"]["open"])
        self.assertGreater(report["event"]["duration_ms"], 500)

    def test_a_hang_of_redis_names_redis_and_fits_8_kib(self):
        server = self.server(OK)
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = str(unused.getsockname()[1])
        run = subprocess.Popen(self.command(server, "redis-server", "--port", port, "--save", "", "--dir", self.scratch.name,
                                            "--enable-debug-command", "yes", options=["--threshold", "1000"]),
                               stdout=subprocess.DEVNULL)
        redis = ["redis-cli", "-p", port]
        self.assertTrue(eventually(lambda: subprocess.run(redis + ["ping"], stdout=subprocess.PIPE,
                                                          stderr=subprocess.DEVNULL).stdout == b"PONG\n"))
        subprocess.run(redis + ["debug", "sleep", "3"], stdout=subprocess.DEVNULL, check=True)
        self.assertTrue(eventually(lambda: server.bodies), "a report arrives while the program runs on")
        subprocess.run(redis + ["shutdown", "nosave"], stdout=subprocess.DEVNULL)
        self.assertEqual(run.wait(300), 0)
        report, = server.reports()
        check(report)
        self.assertGreaterEqual(report["event"]["duration_ms"], 2900)
        self.assertGreater(len(report["event"]["hot"]["repeat"]), 8, "unwound to main, without frame pointers")
        self.assertTrue(any("redis" in image["name"] for image in report["images"]))
        self.assertLessEqual(len(server.bodies[0]), 8192)

    def test_a_forked_child_is_watched_by_itself(self):
        server = self.server(OK)
        code = "import os\nif os.fork() == 0:\n " + HANG.replace("\n", "\n ") + "\n os._exit(0)\nos.wait()\n"
        self.python(server, "import select\nselect.poll().poll(20)\n" + code)
        reports = [report for report in server.reports() if not report["event"]["open"]]
        self.assertGreaterEqual(len(reports), 1)
        for report in server.reports():
            check(report)
        self.assertEqual(len({report["id"] for report in server.reports()}), len(server.bodies))

    def test_status_is_the_programs(self):
        self.assertEqual(self.python(None, "import os; os._exit(3)").returncode, 3)
        self.assertEqual(self.python(None, "import os; os.kill(os.getpid(), 15)").returncode, 128 + 15)

    def test_what_cannot_be_run_is_said(self):
        done = self.run_it(None, "no-such-program")
        self.assertEqual((done.returncode, done.stderr), (127, "mire-run: program not found: no-such-program: give its path, or a name that is in PATH\n"))
        done = self.run_it(None, "/etc/passwd")
        self.assertEqual((done.returncode, done.stderr), (126, "mire-run: not executable: /etc/passwd: check its permissions and its format\n"))
        done = self.run_it(None, "/etc")
        self.assertEqual(done.returncode, 126)
        broken = os.path.join(self.scratch.name, "broken")
        with open(broken, "w") as file:
            file.write("\x7fnothing")
        os.chmod(broken, 0o755)
        done = self.run_it(None, broken)
        self.assertEqual(done.returncode, 126)
        self.assertIn("cannot execute", done.stderr)

    def test_wrong_options_are_said(self):
        for options in (["--threshold", "soon"], ["--threshold", "1"], ["--period", "-1"], ["--nonsense"],
                        ["--server", "ftp://x", "--key", "k"], ["--server", "http://x"], ["--key-file", "/nonexistent", "--server", "http://x"]):
            done = subprocess.run([RUN, *options, "true"], stderr=subprocess.PIPE, text=True,
                                  env={"PATH": os.environ["PATH"]})
            self.assertEqual(done.returncode, 125, options)
            self.assertNotEqual(done.stderr, "")
        self.assertEqual(subprocess.run([RUN], stderr=subprocess.PIPE).returncode, 125)
        self.assertIn("Usage", subprocess.run([RUN, "--help"], stdout=subprocess.PIPE, text=True).stdout)

    def test_the_program_sees_its_own_input_output_and_not_the_key(self):
        code = "import os,sys\nprint(sys.stdin.read(), 'MIRE_KEY' in os.environ, os.environ['LD_PRELOAD'].count(':'))"
        env = dict(os.environ, MIRE_SERVER="http://127.0.0.1:9", MIRE_KEY=KEY, LD_PRELOAD="libc.so.6")
        done = subprocess.run(self.command(None, sys.executable, "-c", code), input="hello", stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=env)
        self.assertEqual((done.stdout, done.stderr), ("hello False 1\n", ""))

    def test_signals_reach_the_program(self):
        code = ("import os,signal,sys,time\nsignal.signal(signal.SIGUSR1, lambda *a: os.write(1, b'usr1\\n'))\n"
                "signal.signal(signal.SIGTERM, lambda *a: sys.exit(5))\nprint('ready', flush=True)\n"
                "while True: time.sleep(0.05)\n")
        run = subprocess.Popen(self.command(None, sys.executable, "-c", code), stdout=subprocess.PIPE, text=True)
        self.assertEqual(run.stdout.readline(), "ready\n")
        run.send_signal(signal.SIGUSR1)
        self.assertEqual(run.stdout.readline(), "usr1\n")
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(300), 5)
        run.stdout.close()

    def test_the_process_ends_with_the_last_thread_of_the_program(self):
        program = build_leaver(self.scratch.name)
        for how in ("exit", "cancel", "raw", "strict"):
            begin = time.monotonic()
            self.assertEqual(self.run_it(None, program, how, "800").returncode, 0)
            self.assertGreaterEqual(time.monotonic() - begin, 0.8)

    def test_a_signal_ends_a_process_whose_first_thread_is_gone(self):
        run = subprocess.Popen(self.command(None, build_leaver(self.scratch.name), "exit", "30000"), stdout=subprocess.PIPE)
        run.stdout.readline()
        self.assertTrue(eventually(lambda: state(child_of(run.pid)) == "Z"), "the first thread has ended")
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(300), 128 + 15)
        run.stdout.close()

    def test_stop_and_continue_go_both_ways(self):
        run = subprocess.Popen(self.command(None, sys.executable, "-c", STUCK), stdout=subprocess.PIPE,
                               preexec_fn=os.setpgrp)  # a group with nobody to continue it cannot be stopped by SIGTSTP
        run.stdout.readline()
        child = child_of(run.pid)

        def becomes(pid, letters):
            return eventually(lambda: state(pid) in letters)

        os.kill(child, signal.SIGSTOP)  # whoever does that continues the child, not mire-run
        self.assertTrue(becomes(child, "T"))
        self.assertFalse(any(state(run.pid) == "T" or time.sleep(0.05) for _ in range(10)))
        os.kill(child, signal.SIGCONT)
        self.assertTrue(becomes(child, "SR"))
        os.kill(child, signal.SIGTSTP)  # as the terminal does
        self.assertTrue(becomes(run.pid, "T"))
        run.send_signal(signal.SIGCONT)
        self.assertTrue(becomes(child, "SR"))
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(300), 128 + 15)
        run.stdout.close()

    def test_a_static_program_runs_with_a_warning(self):
        source = os.path.join(self.scratch.name, "s.c")
        with open(source, "w") as file:
            file.write("int main(void) { return 4; }\n")
        if subprocess.run(["cc", "-static", "-o", source[:-2], source], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no static libc")
        done = self.run_it(None, source[:-2])
        self.assertEqual(done.returncode, 4)
        self.assertIn("cannot be watched", done.stderr)

    def test_a_program_that_is_executed_without_the_library_is_named(self):
        for clears, named in (("env -i", True), ("env", False)):
            done = self.run_it(None, "sh", "-c", f"exec {clears} sleep 4")
            self.assertEqual(done.returncode, 0)
            self.assertEqual("sleep: not watched" in done.stderr, named, done.stderr)

    def test_a_program_of_another_c_library_runs_with_a_warning(self):
        source = os.path.join(self.scratch.name, "m.c")
        with open(source, "w") as file:
            file.write("int main(void) { return 5; }\n")
        if not shutil.which("musl-gcc"):
            self.skipTest("no musl-gcc")
        subprocess.run(["musl-gcc", "-o", source[:-2], source], check=True)
        done = self.run_it(None, source[:-2])
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("cannot be watched", done.stderr)
        self.assertNotIn("Error", done.stderr)

    def test_a_lost_answer_is_asked_for_again_under_the_same_id(self):
        server = self.server(None, OK)
        self.python(server, HANG + "time.sleep(0.1)")
        first, second = server.reports()
        self.assertEqual(first, second)
        self.assertEqual(self.waiting(), [])

    def test_a_busy_server_is_left_alone_as_long_as_it_asks(self):
        server = self.server((503, {"Retry-After": "1"}), OK)
        self.python(server, HANG)
        for _ in range(3):  # with its jitter the wait may outlast the patience of the first run, or end just with it
            if not self.waiting():
                break
            time.sleep(max(0, int(kept(os.path.join(self.store, "after")).split()[0]) / 1000 - time.time()))
            self.python(server, "pass")
        self.assertGreaterEqual(len(server.bodies), 2)
        self.assertGreaterEqual(server.times[1] - server.times[0], 1.0)
        self.assertEqual(len(set(server.bodies)), 1)
        self.assertEqual(self.waiting(), [])

    def test_what_is_refused_is_dropped_and_the_next_report_tells(self):
        server = self.server((413, {}), OK)
        done = self.python(server, HANG)
        self.assertIn("refused 1 report", done.stderr)
        self.assertEqual(self.waiting(), [])
        self.python(server, HANG)
        self.assertEqual(server.reports()[1]["drops"], {"refused": 1})
        self.python(server, HANG)
        self.assertEqual(server.reports()[2]["drops"], {})

    def test_without_a_server_reports_wait_for_the_next_run(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            url = "http://127.0.0.1:%d" % unused.getsockname()[1]
            begin = time.monotonic()
            self.assertEqual(self.python(url, HANG + "sys.exit(2)").returncode, 2)
            self.assertLess(time.monotonic() - begin, 60, "nobody waits for a server that is not there")
        self.assertEqual(len(self.waiting()), 1)
        check(unpack(pathlib.Path(self.waiting()[0]).read_bytes()))
        server = self.server(OK)
        self.python(server, "pass")
        self.assertEqual(len(server.bodies), 1)
        self.assertEqual(self.waiting(), [])

    def test_killed_between_answer_and_delete_sends_the_same_id_again(self):
        run = []
        server = self.server(lambda: os.kill(run[0].pid, signal.SIGKILL), OK)
        run.append(subprocess.Popen(self.command(server, sys.executable, "-c", HANG + "select.poll().poll(1200)")))
        run[0].wait(300)
        self.assertTrue(eventually(lambda: not self.programs()), "the program, which outlived its mire-run, has ended")
        self.assertEqual(len(self.waiting()), 1)
        self.python(server, "pass")
        ids = [report["id"] for report in server.reports()]
        self.assertGreaterEqual(len(ids), 2)
        self.assertEqual(ids[0], ids[1])
        self.assertEqual(self.waiting(), [])

    def test_a_store_that_cannot_be_written_is_said(self):
        self.store = "/proc/nowhere"
        done = self.python(None, "pass")
        self.assertEqual(done.returncode, 125)
        self.assertIn("store", done.stderr)

    def background(self):
        """The mire-run that goes on for what the program left behind: it has the test's store in its arguments."""
        found = []
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                words = pathlib.Path(path).read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0] == RUN.encode() and self.store.encode() in words:
                found.append(int(path.split("/")[2]))
        return found

    def programs(self):
        """Processes that the test's mire-run has started: they have its store in their environment."""
        return [path for path in glob.glob("/proc/[0-9]*/environ") if self.names_store(path)]

    def names_store(self, path):
        try:
            return self.store.encode() in pathlib.Path(path).read_bytes()
        except OSError:
            return False

    def test_a_daemon_is_served_until_it_ends(self):
        server = self.server(OK)
        code = ("import os,select,sys,time\nif os.fork(): os._exit(5)\nos.setsid()\nif os.fork(): os._exit(0)\n"
                "for i in range(3): os.dup2(os.open('/dev/null', os.O_RDWR), i)\ntime.sleep(0.5)\n") + HANG + "select.poll().poll(2000)\n"
        self.assertEqual(self.python(server, code).returncode, 5)
        self.assertEqual(len(self.background()), 1)
        self.assertTrue(eventually(lambda: server.reports()), "a report of the daemon")
        self.assertTrue(eventually(lambda: not self.background()), "it ends with the daemon")
        self.assertEqual(self.waiting(), [])

    def test_nothing_stays_in_the_background_of_a_program_that_leaves_nothing(self):
        self.python(self.server(OK), "import os\nif os.fork() == 0: os._exit(0)\n")
        self.assertEqual(self.background(), [])

    @unittest.skipUnless(os.geteuid() == 0, "only root can change to another user")
    def test_a_worker_that_changes_its_user_keeps_a_store_of_its_own(self):
        server = self.server(OK)
        code = ("import os,select,sys,time\nif os.fork() == 0:\n os.setgroups([]); os.setgid(65534); os.setuid(65534)\n " +
                HANG.replace("\n", "\n ") + "\n os._exit(0)\nprint(os.wait()[0])\n")
        done = self.python(server, code, env=dict(os.environ, HOME="/proc/nowhere"))
        place, = glob.glob("/var/tmp/mire-65534/t-" + kept(os.path.join(self.store, "install"))[:8])
        owner = os.stat(place).st_uid
        left = os.listdir(os.path.join(place, "out")) + os.listdir(os.path.join(place, "box"))
        shutil.rmtree(place)
        if not os.listdir(os.path.dirname(place)):
            os.rmdir(os.path.dirname(place))
        self.assertEqual((done.stderr, owner, left), ("", 65534, []))
        self.assertEqual([report["process"]["pid"] for report in server.reports()], [int(done.stdout)])

    def test_a_home_that_cannot_be_written_does_not_matter(self):
        server = self.server(OK)
        name = "home-%d" % os.getpid()
        command = [RUN, "--server", server.url, "--key", KEY, "--app", name, "--threshold", "500", "--", sys.executable, "-c", HANG]
        env = {"PATH": os.environ["PATH"], "HOME": "/proc/nowhere", "MIRE_SETTINGS": os.environ["MIRE_SETTINGS"]}
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=300, env=env)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(server.reports()), 1)
        place = "/var/tmp/mire-%d" % os.geteuid()
        shutil.rmtree(os.path.join(place, name))
        if not os.listdir(place):
            os.rmdir(place)

    def test_a_file_size_limit_does_not_kill_the_program(self):
        done = subprocess.run(["sh", "-c", 'ulimit -f 1; exec "$@"', "sh"] + self.command(None, sys.executable, "-c", HANG + "print('alive')"),
                              stdout=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "alive\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
