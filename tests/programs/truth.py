"""The turns of a thread's loop, as the kernel saw them: perf's record of its waits and of the instants at which it slept."""
import os
import re
import signal
import subprocess
import time

SHORT_NS, REST_NS = 1_000_000, 20_000_000  # a wait that is over sooner is part of the work; so long a one is a loop's rest
CALLS = ("poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2", "rt_sigtimedwait", "pause", "rt_sigsuspend",
         "accept", "accept4")
LINE = re.compile(r"\s*(\d+)\.(\d+):\s+(\w+):(\w+): (.*?)(?: ABI:\d+\s+SP:(0x[0-9a-f]+))?\s*$")


def can_record():
    """perf may record tracepoints here."""
    try:
        done = subprocess.run(["perf", "record", "-q", "-o", "/dev/null", "-e", "syscalls:sys_enter_poll", "--", "true"],
                              capture_output=True, timeout=30)
        return done.returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


class Turn:
    """From the end of one wait of the loop to the begin of the next, nanoseconds of CLOCK_MONOTONIC."""

    def __init__(self, begin, end, is_open=False):
        self.begin, self.end, self.open = begin, end, is_open
        self.pieces = [self]

    @property
    def ms(self):
        return (self.end - self.begin) / 1e6

    def grow(self, piece):
        if len(self.pieces) == 1:
            self.pieces = [Turn(self.begin, self.end)]
        self.pieces.append(piece)
        self.end, self.open = piece.end, piece.open

    @property
    def longest(self):
        return max(self.pieces, key=lambda piece: piece.ms)

    def shares(self, begin, end):
        """Nanoseconds that both spans have in common."""
        return max(0, min(self.end, end) - max(self.begin, begin))


class Watch:
    """perf records a thread from here to stop()."""

    def __init__(self, folder, tid, reads=()):
        self.path, self.reads = os.path.join(folder, f"perf.{tid}"), reads
        calls = CALLS + (("read",) if reads else ())
        events = [f"syscalls:sys_{side}_{call}" for call in calls for side in ("enter", "exit")]
        control, answer = os.pipe(), os.pipe()
        self.process = subprocess.Popen(["perf", "record", "-q", "-k", "mono", "-m", "512", "-o", self.path, "-t", str(tid), "--user-regs=sp",
                                         "-e", ",".join(events + ["sched:sched_switch"]), "-D", "-1", "--control", f"fd:{control[0]},{answer[1]}"],
                                        pass_fds=(control[0], answer[1]), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        os.close(control[0])
        os.close(answer[1])
        os.write(control[1], b"enable\n")
        assert os.read(answer[0], 16).startswith(b"ack"), "perf does not record: " + self.process.communicate()[1].decode()
        self.held = (answer[0], control[1])  # perf takes their end for its own
        self.begin = time.monotonic_ns()

    def stop(self):
        """The turns, oldest first; the last one is open where the thread ended in it."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)
        for fd in self.held:
            os.close(fd)
        text = subprocess.run(["perf", "script", "-i", self.path, "-F", "time,event,trace,uregs"], capture_output=True, text=True,
                              errors="replace").stdout
        return find_turns(list(read_waits(text, self.reads)), last_instant(text))


class Wait:
    def __init__(self, begin, stack, slept=False):
        self.begin, self.end, self.stack, self.slept, self.rested, self.found = begin, None, stack, slept, slept, False


def read_waits(text, reads):
    """Every waiting call, in order. Of reads those of the descriptors that the loop waits on."""
    wait, first = None, True
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        seconds, fraction, _, event, detail, stack = match.groups()
        now = int(seconds) * 10**9 + int(fraction.ljust(9, "0")[:9])
        if event == "sched_switch":
            if wait:
                wait.slept |= " prev_state=S" in detail
        elif event.startswith("sys_enter_"):
            if event != "sys_enter_read" or int(re.match(r"fd: (\w+)", detail)[1], 16) in reads:
                wait = Wait(now, stack)
        elif wait or first:
            wait = wait or Wait(now - REST_NS, None, True)  # it had begun before: the program was at rest
            wait.end, wait.found = now, not detail.startswith("0x0")
            wait.slept &= now - wait.begin >= SHORT_NS
            wait.rested = wait.slept and now - wait.begin >= REST_NS
            yield wait
            wait = None
        first &= event == "sched_switch"
    if wait:
        wait.rested = wait.slept  # it went on to the end
        yield wait


def last_instant(text):
    """When the thread was last seen: it ended then, or was let go of."""
    match = LINE.match(text[text.rfind("\n", 0, -1) + 1:].rstrip("\n")) if text else None
    return int(match[1]) * 10**9 + int(match[2].ljust(9, "0")[:9]) if match else 0


def find_turns(waits, last):
    """A wait ends a turn if it slept, and so does any at the depth of the stack at which the loop has rested, or one further out that
    found something. Another call, from deeper in the work, is a look for keys, or the question to a server nearby that answers at once.
    A server that took some milliseconds leaves open which of the two it was: it parts a turn into pieces."""
    depths = {wait.stack for wait in waits if wait.rested and wait.stack}
    outermost = max((int(wait.stack, 16) for wait in waits if wait.stack and (wait.slept or not depths)), default=0)
    ends = [wait for wait in waits if wait.slept or wait.stack in depths or (wait.found and int(wait.stack or "0", 16) >= outermost)]
    last = max(last, ends[-1].end or 0) if ends else last
    turns = []
    for before, after in zip(ends, ends[1:] + [None]):
        if not before.end:
            continue
        piece = Turn(before.end, after.begin if after else last, after is None)
        if turns and before.slept and not before.rested and before.stack not in depths and int(before.stack or "0", 16) < outermost:
            turns[-1].grow(piece)
        else:
            turns.append(piece)
    return turns
