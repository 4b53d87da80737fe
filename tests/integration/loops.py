#!/usr/bin/env python3
"""Every kind of loop that docs/loops.md names, watched while it idles, hangs once for a known time, and idles again.

Asked of each: exactly one report, of the length that the program itself measured, with the planted function in its stacks. Of
one that only a ping could find: the length within what its begin is uncertain by.
A loop whose library is not installed is skipped, and said so. `loops.py NAME...` runs those whose title contains a NAME.
"""
import concurrent.futures
import contextlib
import glob
import json
import math
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import threading

SOURCE, BINARY = os.environ["MIRE_SOURCE_DIR"], os.environ["MIRE_BINARY_DIR"]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "tests/support"))
from starved import judged, witness

LOOPS = os.path.join(SOURCE, "tests/programs/own/loops")
RUN = os.path.join(BINARY, "sdk/mire-run")
TEMP = tempfile.mkdtemp(prefix="mire-loops-")
# How much longer than the hang its turn may take, and how far the measured length may be off: a busy machine's doing.
LONGER_MS, SHORTER_MS = 250, 5
BUSY, ASKED = "busy", "unanswered"
SAMPLED = "sampled"  # busy, by samples: begin and end within what the report says of them
IDLE_MS, LEAST_NS = 1300, 999e6  # planted.h

TYPED = {"typed", "fgets"}

# name, source, its library as pkg-config or the linker knows it, [(more arguments, more environment)], what finds a hang is told by FOUND
RAW = [([call], {}) for call in ("poll", "ppoll", "select", "pselect", "epoll_wait", "epoll_pwait", "epoll_pwait2")]
UNHOOKED = ("raw", "timerfd", "usleep", "semaphore", "condition", "waitpid", "barrier", "futexes", "splice", "fifo", "ready", "stdio", "inner", "early", "twice", "blocked", "typed", "fgets", "naps", "steps")
EITHER = [
    ("system", "loop_raw.c", "", RAW),
    ("a loop that looks,", "loop_looks.c", "", [([mode], {}) for mode in ("keys", "keys_1", "game", "dialog", "twice", "asks", "selects", "served")]),
    ("without a hook:", "loop_unhooked.c", "", [([how], {}) for how in UNHOOKED]),
    ("GLib", "loop_glib.c", "glib-2.0", [([], {}), (["waited"], {})]),
    ("libuv", "loop_uv.c", "libuv", [([], {}), (["soon"], {})]),
    ("libevent", "loop_event.c", "libevent", [([], {}), ([], {"EVENT_NOEPOLL": "1"}), ([], {"EVENT_NOEPOLL": "1", "EVENT_NOPOLL": "1"})]),
    ("libev", "loop_ev.c", "-lev", [([], {}), ([], {"LIBEV_FLAGS": "1"}), ([], {"LIBEV_FLAGS": "2"})]),
    ("Qt5", "loop_qt.cc", "Qt5Core", [([], {}), ([], {"QT_NO_GLIB": "1"})]),
    ("Qt6", "loop_qt.cc", "Qt6Core", [([], {}), ([], {"QT_NO_GLIB": "1"})]),
]
LINKED = [
    ("condition variable", "loop_marked.c", "", [(["marked"], {}), (["pinged"], {}), (["second"], {})]),
    ("poll, for something else,", "loop_silent.c", "", [(["silent"], {})]),
    ("GLib", "loop_glib.c", "glib-2.0", [(["exact"], {}), (["nested"], {}), (["starved"], {})]),
    ("libuv", "loop_uv.c", "libuv", [(["exact"], {})]),
    ("Qt5 on GLib", "loop_qt.cc", "Qt5Core glib-2.0", [(["exact"], {})]),
    ("Qt6 on GLib", "loop_qt.cc", "Qt6Core glib-2.0", [(["exact"], {})]),
    ("SDL2, marked", "loop_sdl.c", "sdl2", [([], {})]),
    ("libuv by dlopen", "loop_late.c", "libuv", [(["before"], {}), (["after"], {})]),
]
# by the mode of a program: what finds the hang, and where it is planted
FOUND = {
    "exact": (BUSY, "planted_hang_waiting"),
    "keys": (BUSY, "planted_hang_looking"),
    "keys_1": (BUSY, "planted_hang_looking"),
    "asks": (BUSY, "planted_hang_asking"),
    "selects": (BUSY, "planted_hang_asking"),
    **{how: (SAMPLED, "planted_hang") for how in UNHOOKED},
    "blocked": (SAMPLED, "planted_hang_blocked"),
    "typed": (BUSY, "planted_hang"),
    "naps": (BUSY, "run"),
    "steps": (None, "run"),
    "nested": (None, "main"),
    "starved": (ASKED, "planted_turn"),
    "pinged": (ASKED, "planted_hang"),
    "second": (ASKED, "planted_hang"),
    "silent": (ASKED, "planted_hang_waiting"),
}
PYTHON = """import asyncio, time
async def main():
    await asyncio.sleep(1.3)
    begin = time.monotonic_ns()
    time.sleep(1)
    print('hung', time.monotonic_ns() - begin)
    await asyncio.sleep(0.3)
asyncio.run(main())"""
NODE = """setTimeout(() => {
    const begin = process.hrtime.bigint();
    while (process.hrtime.bigint() - begin < 1000000000n);
    console.log('hung ' + (process.hrtime.bigint() - begin));
    setTimeout(() => {}, 300);
}, 1300)"""
LUA = """local uv = require 'luv'
uv.new_timer():start(1300, 0, function()
    local begin = uv.hrtime()
    while uv.hrtime() - begin < 1000000000 do end
    print(('hung %d'):format(uv.hrtime() - begin))
    uv.new_timer():start(300, 0, function() os.exit(0, true) end)
end)
uv.run()"""
# name, command, what must be there, the file that the hang's frames lie in
PROGRAMS = [
    ("python3 asyncio", ["python3", "-c", PYTHON], ["python3", "-c", "import asyncio"], "python3"),
    ("node", ["node", "-e", NODE], ["node", "-e", ""], "node"),
    ("lua with luv", ["lua5.4", "-e", LUA], ["lua5.4", "-e", "require 'luv'"], "lua5.4"),
]


class Skip(Exception):
    pass


class Typist:
    """A terminal, `slave`, with a user who types a line every 100 ms."""

    def __enter__(self):
        self.master, self.slave = pty.openpty()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.type)
        self.thread.start()
        return self

    def type(self):
        while not self.over.wait(0.1):
            os.write(self.master, b"line\n")
            os.read(self.master, 4096)  # the echo

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        os.close(self.master)
        os.close(self.slave)


def run(command, env=None, stdin=None):
    env = dict(env or os.environ, MIRE_SETTINGS="suppress_ms=0 daily_cap=1000")  # every hang is to be stored, alike or not
    done = subprocess.run(command, env=env, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 0, (command[:3], done.returncode, done.stdout, done.stderr)
    return done.stdout


def library_flags(package):
    """What links the library; Skip where it is not installed."""
    if package.startswith("-l"):
        tried = subprocess.run(["cc", "-xc", "-", "-o", "/dev/null", package], input="int main(void) { return 0; }", text=True,
                               stderr=subprocess.DEVNULL)
        if tried.returncode == 0:
            return [package]
    elif subprocess.run(["pkg-config", "--exists", *package.split()]).returncode == 0:
        return run(["pkg-config", "--cflags", "--libs", *package.split()]).split() + ["-DWITH_GLIB"] * ("glib" in package)
    raise Skip("no development files of " + package)


def build(source, package, linked):
    """The program, once each."""
    path = os.path.join(TEMP, "-".join([source, *package.split(), "linked" if linked else "plain"]))
    if not os.path.exists(path):
        flags = library_flags(package) if package else []
        mire = ["-DWITH_MIRE", "-I" + os.path.join(SOURCE, "sdk/include"), "-L" + os.path.join(BINARY, "sdk"), "-lmire",
                "-Wl,-rpath," + os.path.join(BINARY, "sdk")] if linked else []
        compiler = ["c++", "-std=c++17"] if source.endswith(".cc") else ["cc", "-std=gnu11"]
        run([*compiler, "-O2", "-g", "-fPIC", "-Wl,--as-needed", "-o", path, os.path.join(LOOPS, source), *flags, *mire])
    return path


def reports(store):
    """What was stored and not sent."""
    return [json.loads(run(["zstd", "-dcq", path])) for path in glob.glob(store + "/out/*")]


def planted_ones(reports):
    """All but a slow start of the machine's making: a launch's hang that ended before the idling."""
    return [report for report in reports if not report["event"]["launch"] or report["event"]["duration_ms"] >= IDLE_MS]


def told(reports):
    return ["%s %d ms" % ("launch" if report["event"]["launch"] else "hang", report["event"]["duration_ms"]) for report in reports]


def span(path, function):
    for line in run(["nm", "-S", path]).splitlines():
        words = line.split()
        if len(words) == 4 and (words[3].split(".")[0] == function or words[3].startswith("_ZL%d%s" % (len(function), function))):
            return int(words[0], 16), int(words[0], 16) + int(words[1], 16)
    raise AssertionError(function + " is not in " + path)


def share_inside(report, image, begin, end):
    """The share of the hang's samples in whose stack a frame lies in that part of that image."""
    frames, nodes, samples = report["frames"], report["nodes"], report["event"]["samples"]
    inside = [os.path.basename(report["images"][i]["name"]).startswith(image) and begin <= offset < end if i >= 0 else False
              for i, offset in zip(frames["image"], frames["offset"])]
    reach = [False]
    for row, (up, frame) in enumerate(zip(nodes["up"], nodes["frame"])):
        reach.append(reach[row + 1 - up] or inside[frame])
    return sum(reach[node] for node in samples["node"]) / max(1, len(samples["node"]))


def judge(title, output, all_found, image, begin, end, trigger=BUSY):
    """None, or what is wrong."""
    if not output.startswith("hung "):
        return output
    hung_ns = int(output.split("hung ")[1].split()[0])
    found = planted_ones(all_found)
    if trigger is None and not found:
        return print("ok       %-58s no report" % title, flush=True)
    if hung_ns < LEAST_NS:
        return "something cut the hang short, after %.0f ms; reports: %s" % (hung_ns / 1e6, told(all_found))
    if len(found) != 1 or trigger is None:
        return "%d reports of a hang of %.0f ms; all: %s" % (len(found), hung_ns / 1e6, told(all_found))
    hang = found[0]["event"]
    if hang.get("trigger", BUSY) != (BUSY if trigger == SAMPLED else trigger):
        return "%s, not %s" % (hang["trigger"], trigger)
    more_ms = hang["duration_ms"] - hung_ns / 1e6
    slack_ms = hang.get("begin_slack_ms", 0)
    uncertain_ms = slack_ms + hang.get("end_slack_ms", 0)
    if trigger != SAMPLED and (slack_ms > 0) != (trigger == ASKED):
        return "begin uncertain by %d ms" % slack_ms
    if not -SHORTER_MS - uncertain_ms <= more_ms <= LONGER_MS:
        return "%.0f ms off %.0f ms, begin uncertain by %d ms" % (more_ms, hung_ns / 1e6, slack_ms)
    if hang.get("unsure_ms", 0) > hang["duration_ms"] / 4 and " game " not in title:  # whose loop is not known
        return "unsure for %d ms" % hang["unsure_ms"]
    share = share_inside(found[0], image, begin, end)
    if share < 0.9:
        return "the planted frame is in %.0f %% of the samples" % (100 * share)
    print("ok       %-58s %+7.1f ms, planted frame in %3.0f %%" % (title, more_ms, 100 * share), flush=True)
    return None


def watched(command, store):
    return [RUN, "--store", store, "--threshold", "500", "--period", "10", "--app", "t", "--app-version", "1", "--", *command]


def try_loop(title, source, package, linked, arguments, environment):
    path = build(source, package, linked)
    store = tempfile.mkdtemp(dir=TEMP)
    command = [path, store, *arguments]
    with Typist() if TYPED.intersection(arguments) else contextlib.nullcontext() as user:
        output = run(command if linked else watched(command, store), env=dict(os.environ, **environment), stdin=user and user.slave)
    trigger, planted = FOUND.get(arguments[0] if arguments else "", (BUSY, "planted_hang"))
    return judge(title, output, reports(store), os.path.basename(path), *span(path, planted), trigger)


def try_program(title, command, needs, image):
    if not shutil.which(needs[0]) or subprocess.run(needs, stderr=subprocess.DEVNULL).returncode != 0:
        raise Skip("`%s` fails" % " ".join(needs))
    store = tempfile.mkdtemp(dir=TEMP)
    return judge(title, run(watched(command, store)), reports(store), image, 0, 1 << 62)


def try_odds(title, source, package, linked):
    """The ping notices half of the hangs that are half an interval longer than the threshold: within five standard deviations."""
    store = tempfile.mkdtemp(dir=TEMP)
    words = run([build(source, package, linked), store]).split()
    if words[0] != "tried":
        return " ".join(words)
    tried, triggers = int(words[1]), [report["event"]["trigger"] for report in planted_ones(reports(store))]
    noticed = len(triggers)
    if set(triggers) != {ASKED} or abs(noticed - tried / 2) > 5 * math.sqrt(tried / 4):
        return "noticed %d of %d, %s; %s" % (noticed, tried, set(triggers), words[2])
    print("ok       %-58s noticed %d of %d; %s" % (title, noticed, tried, words[2]), flush=True)
    return None


def jobs():
    yield "odds of the ping, with libmire", try_odds, ("loop_odds.c", "", True)
    for linked in (False, True):
        for name, source, package, ways in EITHER + (LINKED if linked else []):
            for arguments, environment in ways:
                how = ["%s=%s" % pair for pair in environment.items()]
                title = " ".join([name, *arguments, *how, "with libmire" if linked else "under mire-run"])
                yield title, try_loop, (source, package, linked, arguments, environment)
    for name, command, needs, image in PROGRAMS:
        yield name + " under mire-run", try_program, (command, needs, image)


def main():
    wanted = sys.argv[1:]
    chosen = [job for job in jobs() if not wanted or any(word in job[0] for word in wanted)]
    failures = []
    for title, attempt, arguments in chosen:  # compilers one at a time, before anything is measured
        try:
            attempt is not try_program and build(*arguments[:3])
        except Skip:
            pass
    witness()  # from now on
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for title, task in [(title, pool.submit(judged, attempt, title, *arguments)) for title, attempt, arguments in chosen]:
            try:
                wrong = task.result()
            except Skip as skip:
                print("skipped  %-58s %s" % (title, skip))
                continue
            if wrong:
                failures.append(title)
                print("FAILED   %-58s %s" % (title, wrong), flush=True)
    shutil.rmtree(TEMP, ignore_errors=True)
    return "%d of %d failed: %s" % (len(failures), len(chosen), failures) if failures else 0


sys.exit(main())
