#!/usr/bin/env python3
"""The capture side preloaded into programs nobody prepared for it: what it says is compared with the program's own symbols
and with gdb, and the programs must do what they do without it."""
import concurrent.futures, os, re, shutil, signal, socket, subprocess, sys, tempfile, time

SOURCE, BINARY = os.environ["MIRE_SOURCE_DIR"], os.environ["MIRE_BINARY_DIR"]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "tests/support"))
from starved import judged, witness

PROBE = BINARY + "/tests/unit/sdk/libcapture_probe.so"
TEMP = tempfile.mkdtemp(prefix="mire-capture-")
failures = []


def check(name, holds, detail=""):
    print(("ok      " if holds else "FAILED  ") + name + ("" if holds else f"  {detail}"), flush=True)
    if not holds:
        failures.append(name)


class Capture:
    """One program's environment, and the hangs that came of it."""

    def __init__(self, name):
        self.path = f"{TEMP}/{name}.probe"
        if os.path.exists(self.path):
            os.unlink(self.path)  # of an attempt before
        self.env = dict(os.environ, LD_PRELOAD=PROBE, MIRE_PROBE=self.path, MIRE_PROBE_THRESHOLD_MS="300",
                        MIRE_PROBE_PERIOD_MS="20")

    def hangs(self):
        """[(facts, [stack])]; a stack is (weight, state, flags, [(image, offset, found)]), innermost first."""
        out = []
        for line in open(self.path) if os.path.exists(self.path) else []:
            words = line.split()
            if words[0] == "hang":
                keys = ("pid", "ms", "late", "gate", "launch", "exited", "samples")
                out.append((dict(zip(keys, map(int, words[1:]))), []))
            elif words[0] == "stack":
                frames = [re.match(r"(.*)\+([0-9a-f]+)/(\d)$", w).groups() for w in words[4:]]
                out[-1][1].append((int(words[1]), words[2], int(words[3]), [(i, int(o, 16), int(f)) for i, o, f in frames]))
        return out


def functions(path):
    rows = [line.split() for line in subprocess.check_output(["nm", "-n", path], text=True).splitlines()]
    return [(int(r[0], 16), r[2]) for r in rows if len(r) == 3 and r[1] in "tTwW"]


def names(stack, path, table):
    """The program's own functions in a stack."""
    found = []
    for image, offset, _ in stack[3]:
        if image == path:
            below = [name for address, name in table if address <= offset]
            found.append(below[-1] if below else "?")
    return found


def contains(haystack, needles):
    rest = iter(haystack)
    return all(any(word == needle for word in rest) for needle in needles)


def build(name, *flags):
    path = f"{TEMP}/{name}"
    subprocess.check_call([os.environ.get("CC", "cc"), "-g", *flags, "-o", path, SOURCE + "/tests/programs/own/victim.c", "-pthread"])
    return path


def victims():
    loops = ["poll", "ppoll", "epoll", "select", "pselect", "sigwait"]
    hangs = ["cpu", "sleep", "lock", "read"]
    builds = {
        "plain": ["-O2", "-fomit-frame-pointer"],
        "fortified": ["-O2", "-D_FORTIFY_SOURCE=2", "-fcf-protection=full"],
        "debug": ["-O0"],
        "pointers-only": ["-O2", "-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"],
    }
    jobs = []
    for number, (kind, flags) in enumerate(builds.items()):
        path = build(kind, *flags)
        for turn, hang in enumerate(hangs):
            loop = loops[(number + turn) % len(loops)]
            jobs.append((kind, path, loop, hang, []))
        jobs.append((kind, path, loops[(number + 4) % len(loops)], "cpu", ["threads"]))
    jobs.append(("plain", f"{TEMP}/plain", "poll", "deaf", []))  # it blocks every signal
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        tasks = [pool.submit(judged, try_victim, *job) for job in jobs]
        for (kind, _, loop, hang, more), task in zip(jobs, tasks):
            check(" ".join(["victim", kind, loop, hang, *more]), not task.result(), task.result())


def try_victim(kind, path, loop, hang, more):
    """None, or what is wrong. The program prints how long it hung: the hang has that length, and no sleep is cut short."""
    capture = Capture("-".join(["victim", kind, loop, hang, *more]))
    done = subprocess.run([path, loop, hang, *more], env=capture.env, stdout=subprocess.PIPE, text=True, timeout=300)
    hangs = capture.hangs()
    if done.returncode != 0 or len(hangs) != 1:
        return f"status {done.returncode}, {done.stdout}, hangs {[h[0] for h in hangs]}"
    (facts, stacks), hung_ms, table = hangs[0], int(done.stdout.split()[1]), functions(path)
    good = [s for s in stacks if contains(names(s, path, table), ["hang_" + hang, "handle", "main"])]
    if len(good) >= 0.9 * len(stacks) and len(stacks) >= 8 and hung_ms >= 700 and -10 <= facts["ms"] - hung_ms <= 300:
        return None
    some = stacks[len(stacks) // 2] if stacks else None
    return f"hung {hung_ms} ms, {len(good)} of {len(stacks)} stacks, {facts}, e.g. {some and names(some, path, table)} {some}"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask_redis(port, *words):
    with socket.create_connection(("127.0.0.1", port), timeout=300) as s:
        s.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in words))
        return s.recv(65536)


def eventually(condition):
    until = time.monotonic() + 300
    while not (seen := condition()) and time.monotonic() < until:
        time.sleep(0.05)
    return seen


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        return True
    except OSError:
        return False


def await_port(port):
    eventually(lambda: answers(port))


def gdb_stack_asleep(pid, port):
    """Redis sleeps, and gdb reads its stack before the sleep is over; None without gdb."""
    for seconds in (1.5, 6, 24):
        client = subprocess.Popen([sys.executable, "-c", "import socket,sys\ns=socket.create_connection(('127.0.0.1',int(sys.argv[1])))\n"
                                   f"s.sendall(b'DEBUG SLEEP {seconds}\\r\\n'); print(flush=True); s.recv(100)", str(port)], stdout=subprocess.PIPE)
        client.stdout.readline()
        time.sleep(0.8)
        expected = gdb_stack(pid)
        slept_on = client.poll() is None
        client.communicate()
        if slept_on or not expected:
            return expected
    raise AssertionError("gdb took 24 s")


def redis():
    if not shutil.which("redis-server"):
        return print("skipped  redis-server is not installed")
    capture, port = Capture("redis"), free_port()
    process = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", TEMP,
                                "--enable-debug-command", "yes"], env=capture.env, stdout=subprocess.DEVNULL)
    await_port(port)
    ask_redis(port, "DEBUG", "POPULATE", "1500000")
    ask_redis(port, "CONFIG", "SET", "lua-time-limit", "0")
    expected = gdb_stack_asleep(process.pid, port)
    ask_redis(port, "EVAL", "local n=0 for i=1,100000000 do n=n+i end return n", "0")
    ask_redis(port, "PING")
    time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    check("redis-server exits as it does", process.wait(timeout=300) == 0)
    hangs = capture.hangs()
    stacks = [s for _, part in hangs for s in part]
    whole = [s for s in stacks if not s[2] & 2 and s[3] and s[3][-1][0].startswith("/usr/bin/redis")]
    check("redis-server: stacks reach the program's entry", stacks and len(whole) >= 0.98 * len(stacks),
          f"{len(whole)} of {len(stacks)}, {[s for s in stacks if s not in whole][:2]}")
    sleeping = [s for h, part in hangs for s in part if s[2] & 4]
    if expected:
        same = [s for s in sleeping if [o & 0xfff for _, o, _ in s[3]][1:] == [(pc - 1) & 0xfff for pc in expected[1:]]]
        check("redis-server asleep: the frames are gdb's", len(same) >= 10,
              f"{len(same)} of {len(sleeping)}: {[hex(pc & 0xfff) for pc in expected]}, "
              f"{[hex(o & 0xfff) for _, o, _ in sleeping[0][3]] if sleeping else ''}")
    running = [s for s in stacks if s[1] == "R" and len(s[3]) > 8]
    check("redis-server running: stacks were taken", len(running) > 10, len(running))


def gdb_stack(pid):
    """Addresses of the first thread's frames, innermost first; None without gdb."""
    if not shutil.which("gdb"):
        return print("skipped  gdb is not installed")
    script = ("import gdb\nf = gdb.newest_frame()\nwhile f is not None:\n  print('pc', hex(f.pc()))\n  f = f.older()\n")
    with open(TEMP + "/frames.py", "w") as file:
        file.write(script)
    out = subprocess.run(["gdb", "-q", "-nx", "-batch", "-p", str(pid), "-ex", "thread 1", "-ex", "set backtrace past-main on",
                          "-ex", "set backtrace past-entry off", "-x", TEMP + "/frames.py"],
                         capture_output=True, text=True).stdout
    return [int(pc, 16) for pc in re.findall(r"^pc (0x[0-9a-f]+)", out, re.M)] or None


def python_loop():
    capture = Capture("python")
    program = ("import select, time, hashlib\nselect.select([], [], [], 0.05)\nend = time.time() + 0.8\n"
               "while time.time() < end: hashlib.sha256(b'x' * 100000)\nselect.select([], [], [], 0.05)\nprint('done')")
    out = subprocess.run([sys.executable, "-c", program], env=capture.env, capture_output=True, text=True)
    hangs = [h for h in capture.hangs() if not h[0]["launch"]]
    check("python3: a select loop's hang", out.stdout == "done\n" and len(hangs) == 1 and hangs[0][0]["ms"] >= 780,
          f"{out} {[h[0] for h in hangs]}")


def children_of(pid):
    return subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout.split()


def is_watched(pid):
    return any(open(f"/proc/{pid}/task/{task}/comm").read() == "mire-check\n" for task in os.listdir(f"/proc/{pid}/task"))


def nginx():
    if not shutil.which("nginx"):
        return print("skipped  nginx is not installed")
    capture, port, root = Capture("nginx"), free_port(), TEMP + "/nginx"
    os.makedirs(root, exist_ok=True)
    with open(root + "/nginx.conf", "w") as file:
        file.write(f"daemon off; worker_processes 2; user {'root' if os.getuid() == 0 else ''};\n" if os.getuid() == 0 else
                   "daemon off; worker_processes 2;\n")
        file.write(f"pid {root}/pid; error_log {root}/error.log; events {{}} http {{ access_log off;\n"
                   f"client_body_temp_path {root}/b; proxy_temp_path {root}/p; fastcgi_temp_path {root}/f; uwsgi_temp_path {root}/u;"
                   f" scgi_temp_path {root}/s; server {{ listen 127.0.0.1:{port}; location / {{ return 200 hello; }} }} }}\n")
    process = subprocess.Popen(["nginx", "-c", root + "/nginx.conf"], env=capture.env, stderr=subprocess.DEVNULL)
    await_port(port)
    children = eventually(lambda: len(found := children_of(process.pid)) == 2 and found)
    for _ in children:
        with socket.create_connection(("127.0.0.1", port), timeout=300) as s:
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            s.recv(1000)
    check("nginx: each forked worker is watched", eventually(lambda: all(map(is_watched, children))))
    for pid in children:
        os.kill(int(pid), signal.SIGSTOP)
    time.sleep(0.6)
    for pid in children:
        os.kill(int(pid), signal.SIGCONT)
    time.sleep(0.3)
    process.send_signal(signal.SIGQUIT)
    check("nginx exits as it does", process.wait(timeout=300) == 0)
    check("nginx: stopped workers are no hang", capture.hangs() == [], [h[0] for h in capture.hangs()])


def bystanders():
    capture = Capture("bystanders")
    out = subprocess.run(["sh", "-c", "echo a | cat; ls / > /dev/null; env -i /bin/echo b"], env=capture.env,
                         capture_output=True, text=True)
    check("short-lived programs run as ever", out.stdout == "a\nb\n" and out.stderr == "" and capture.hangs() == [], out)
    static = build("static", "-O2", "-static")
    check("a static program runs as ever", subprocess.run([static, "poll", "cpu"], env=capture.env).returncode == 0)


def attempt(part):
    """None, or what failed in it."""
    failures.clear()
    part()
    return "; ".join(failures)


witness()  # from now on
try:
    wrong = [attempt(victims)] + [judged(attempt, part) for part in (python_loop, nginx, bystanders, redis)]
finally:
    shutil.rmtree(TEMP, ignore_errors=True)
sys.exit("failed: " + "; ".join(filter(None, wrong)) if any(wrong) else 0)
