"""A program that runs by itself or under mire-run: in a terminal, in a window or plainly, and what a user does to it."""
import fcntl
import os
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import termios
import threading
import time

RUN = os.path.join(os.environ["MIRE_BINARY_DIR"], "sdk/mire-run")
WAITS = {"7", "271", "23", "270", "232", "281", "441", "128", "34", "130", "43", "288"}  # x86_64: poll ... accept4
STEP_S, REST_S = 0.05, 0.4
PIPE_BYTES = 4096


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def until(seen, seconds=30):
    end = time.monotonic() + seconds
    while not (value := seen()):
        if time.monotonic() > end:
            return None
        time.sleep(STEP_S)
    return value


def read_file(path):
    try:
        with open(path, "rb") as file:
            return file.read().decode(errors="replace")
    except OSError:
        return ""


class Subject:
    """`row` says what to run (table/), `mire` the words and the environment of mire-run, or None; its work is doubled so often."""

    def __init__(self, row, folder, mire=None, doublings=0):
        self.row, self.folder, self.mire, self.doublings = row, folder, mire, doublings
        self.port, self.display, self.x = free_port(), None, None
        self.master, self.screen, self.log = None, "", None
        self.watched, self.prepared, self.held = 0, set(), False
        os.makedirs(self.path("home"), exist_ok=True)
        if row.prepare:
            row.prepare(self)

    # Files and words

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def fifo(self, name):
        """The path of a FIFO: whatever opens it hangs until feed()."""
        if not os.path.exists(self.path(name)):
            os.mkfifo(self.path(name))
        return self.path(name)

    def feed(self, name, text=b"\n", after_s=1.2):
        """Lets go of a program that opens that FIFO for reading, some time after it has come there."""
        self.until_busy()
        time.sleep(after_s)
        if self.held:
            return  # it is to end in this hang
        fd = os.open(self.path(name), os.O_RDWR)
        os.write(fd, text)
        self.until_read(fd)
        os.close(fd)

    def until_read(self, fd):
        until(lambda: struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0] == 0 or not self.is_alive(), 10)

    def amount(self, count):
        """So much work of a kind, or more on a machine that is too fast for it to be a hang."""
        return count << self.doublings

    def words(self, words):
        named = {"dir": self.folder, "port": str(self.port)}
        return [re.sub(r"\{(dir|port)\}", lambda match: named[match[1]], word) for word in words]

    # Start and end

    def start(self):
        env = {name: value for name, value in os.environ.items() if not name.startswith(("MIRE_", "DISPLAY", "DBUS", "XDG"))}
        env.update(HOME=self.path("home"), TERM="xterm", LANG="C.UTF-8", LC_ALL="C.UTF-8", LINES="24", COLUMNS="80", NO_AT_BRIDGE="1",
                   GIO_USE_VFS="local", GTK_USE_PORTAL="0", **self.row.env)
        command = self.words(self.row.command)
        if self.mire:
            command, env = [RUN, *self.mire[0], "--", *command], env | self.mire[1]
        streams = self.streams(env)
        self.process = subprocess.Popen(command, env=env, cwd=self.folder, start_new_session=True, **streams)
        for stream in ("stdin", "stdout", "stderr"):
            if isinstance(streams[stream], int) and streams[stream] > 2:
                try:
                    os.close(streams[stream])
                except OSError:
                    pass
        self.pid = until(self.find_pid)
        assert self.pid, f"{self.row.name} did not start: {self.said()[-300:]}"
        self.watched = self.pid
        if self.row.ready:
            assert until(lambda: self.row.ready(self) or not self.is_alive(), 60), f"{self.row.name} is not ready: {self.said()[-300:]}"
        if self.row.worker:
            self.watched = until(lambda: self.row.worker(self))
        self.settle()

    def streams(self, env):
        if self.row.where == "tty":
            self.master, slave = pty.openpty()
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            threading.Thread(target=self.read_screen, daemon=True).start()
            return {"stdin": slave, "stdout": slave, "stderr": slave, "preexec_fn": lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)}
        if self.row.where == "window":
            self.open_display(env)
        out = {name: open(self.path(name), "wb") for name in ("stdout", "stderr")}
        if self.row.log:
            read_end, write_end = os.pipe()
            fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            self.log = Log(read_end, write_end, self.path(self.row.log))
            out[self.row.log] = write_end
        return {"stdin": subprocess.DEVNULL, **out}

    def open_display(self, env):
        read_end, write_end = os.pipe()
        self.x = subprocess.Popen(["Xvfb", "-displayfd", str(write_end), "-screen", "0", "1000x700x24", "-nolisten", "tcp"], pass_fds=(write_end,),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write_end)
        with os.fdopen(read_end) as file:
            self.display = ":" + file.readline().strip()
        env["DISPLAY"] = self.display

    def read_screen(self):
        while True:
            try:
                got = os.read(self.master, 65536)
            except OSError:
                return
            self.screen = (self.screen + got.decode(errors="replace"))[-200_000:]

    def find_pid(self):
        if not self.mire:
            return self.process.pid
        try:
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
                pid = int(file.read().split()[0])
            return pid if os.path.basename(os.readlink(f"/proc/{pid}/exe")) != "mire-run" else None
        except (OSError, IndexError, ValueError):
            return None

    def is_alive(self):
        return self.process.poll() is None

    def kill(self, number):
        os.kill(self.pid, number)

    def kill_hung(self):
        """SIGKILL to the process that hangs, and to the first one: a master may start another worker."""
        for pid in (self.pid, self.watched):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass

    def wait(self, seconds=60):
        """The status as a shell tells it: 128 + N of a signal."""
        status = self.process.wait(seconds)
        return 128 - status if status < 0 else status

    def close(self):
        """End all that was started: workers outlive a master that was killed. mire-run, which serves them, ends by itself then."""
        for also_mire in (False, False, True):
            for pid in self.left(also_mire):
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            until(lambda: not self.left(True), 10)
        self.process.wait()
        if self.log:
            self.log.close()
        if self.x:
            self.x.terminate()
            self.x.wait()
        if self.master is not None:
            os.close(self.master)

    def left(self, also_mire):
        """Processes of the program's session, and what mire-run serves elsewhere: their words name this folder."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            words = read_file(f"/proc/{pid}/stat").rpartition(")")[2].split()
            if len(words) < 4 or words[0] == "Z":
                continue
            ours = int(words[3]) == self.process.pid or (int(words[1]) != os.getpid() and self.folder in read_file(f"/proc/{pid}/cmdline"))
            if ours and (also_mire or not os.path.realpath(f"/proc/{pid}/exe").endswith("mire-run")):
                found.append(int(pid))
        return found

    def said(self):
        return self.screen or read_file(self.path("stdout")) + read_file(self.path("stderr"))

    # What a user does

    def keys(self, text):
        """Type into the terminal; in a window names of keys, as xdotool has them."""
        if self.master is not None:
            os.write(self.master, text.encode())
        else:
            self.xdotool("key", "--delay", "60", *text.split())

    def text(self, text):
        self.xdotool("type", "--delay", "20", text)

    def xdotool(self, *words):
        return subprocess.run(["xdotool", *words], env=dict(os.environ, DISPLAY=self.display), capture_output=True, text=True, timeout=60).stdout

    def window(self):
        """The program shows a window, which has the keyboard."""
        ids = self.xdotool("search", "--onlyvisible", "--name", ".").split()
        if ids:
            self.xdotool("windowfocus", ids[-1])
        return bool(ids)

    def run(self, *words, **more):
        """A command beside the program: a client of it. Returns what it prints."""
        env = {"PATH": os.environ["PATH"], "HOME": self.path("home"), "LC_ALL": "C.UTF-8"} | ({"DISPLAY": self.display} if self.display else {})
        done = subprocess.run(self.words(words), env=env, cwd=self.folder, capture_output=True, text=True, errors="replace", timeout=120, **more)
        return done.stdout

    def ask(self, text, until_closed=False, seconds=90):
        """Send to the program's port and return the answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as line:
            line.sendall(text.encode())
            got = line.recv(65536)
            while until_closed and (more := line.recv(65536)):
                got += more
        return got.decode(errors="replace")

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        except OSError:
            return False

    # What the watched thread does

    def is_waiting(self):
        """Asleep in its loop's wait, by the kernel."""
        call = read_file(f"/proc/{self.watched}/syscall").split()
        state = read_file(f"/proc/{self.watched}/stat").rpartition(")")[2].split()[:1]
        reads = call[:1] == ["0"] and len(call) > 1 and int(call[1], 16) in self.row.reads
        return state == ["S"] and bool(call) and (call[0] in WAITS or reads)

    def settle(self, seconds=60):
        """Wait until the program is at rest."""
        calm, end = 0, time.monotonic() + seconds
        while calm < REST_S and self.is_alive() and time.monotonic() < end:
            time.sleep(STEP_S)
            calm = calm + STEP_S if self.is_waiting() else 0

    def until_busy(self, for_s=0.3, seconds=20):
        """Wait until the program has done something other than wait for some time."""
        busy, end = 0, time.monotonic() + seconds
        while busy < for_s and self.is_alive() and time.monotonic() < end:
            time.sleep(0.02)
            busy = 0 if self.is_waiting() else busy + 0.02
        return busy >= for_s


class Log:
    """The small pipe that a program logs to; who reads it can stop."""

    def __init__(self, read_end, write_end, path):
        self.read_end, self.fill_end, self.path = read_end, os.dup(write_end), path
        self.stopped, self.closed = threading.Event(), False
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        with open(self.path, "wb") as file:
            while not self.closed:
                if self.stopped.is_set():
                    time.sleep(0.01)
                    continue
                got = os.read(self.read_end, 65536)
                if not got:
                    return
                file.write(got)

    def stop(self):
        """Nobody reads any more, and the pipe is full: the next line that the program writes blocks."""
        self.stopped.set()
        room = fcntl.fcntl(self.fill_end, fcntl.F_GETPIPE_SZ)
        held = struct.unpack("i", fcntl.ioctl(self.read_end, termios.FIONREAD, bytes(4)))[0]
        filler = threading.Thread(target=lambda: os.write(self.fill_end, b"." * (2 * room - held)), daemon=True)
        filler.start()  # what does not fit waits for the reader
        until(lambda: struct.unpack("i", fcntl.ioctl(self.read_end, termios.FIONREAD, bytes(4)))[0] >= room, 5)

    def go(self):
        self.stopped.clear()

    def close(self):
        self.closed = True
        os.close(self.fill_end)


def has(*programs):
    return [program for program in programs if not shutil.which(program)]
