"""What a row of the table says: a program, how it is hung, and who is to blame then.

Names are patterns of fnmatch. `right1` are functions that a maintainer would name first, `good1` others that lead there: one frame
off, nameless where no names are installed (`vim.basic+0x*`), or an interpreter's loop. `right2`, `good2`: the same of Caller2."""
import dataclasses
import threading
import time
from typing import Callable


@dataclasses.dataclass
class Hang:
    name: str
    do: Callable            # do(subject): make it hang, and return when it is over
    right1: tuple
    right2: tuple
    good1: tuple = ()
    good2: tuple = ()
    reasons: tuple = ("cpu",)
    kinds: tuple = ("hang",)
    before: Callable = None  # before(subject): what it needs, once


@dataclasses.dataclass
class Memory:
    do: Callable            # do(subject): make it grow
    right1: tuple
    good1: tuple = ()
    footprint_kib: int = 60000


@dataclasses.dataclass
class Row:
    name: str
    needs: tuple            # programs that must be installed
    command: tuple          # {dir} and {port} are filled in
    hangs: tuple            # two
    quit: Callable = None   # quit(subject): ask it to end, as its user does; None: SIGTERM is that
    where: str = "plain"    # or "tty", "window"
    prepare: Callable = None
    ready: Callable = None
    worker: Callable = None  # pid of the process that hangs, if it is not the first
    env: dict = dataclasses.field(default_factory=dict)
    log: str = ""           # "stdout" or "stderr": a small pipe that can be stopped
    reads: tuple = ()       # descriptors that its loop waits on by read
    signal: int = 15        # ends it a second way
    memory: Memory = None
    quick: bool = False     # in make test


def beside(act, subject):
    """Do it in a thread of its own: the program answers late, or never."""
    def quietly():
        try:
            act(subject)
        except OSError:
            pass  # it has ended
    thread = threading.Thread(target=quietly, daemon=True)
    thread.start()
    return thread


def fed(act, path="fifo", text=b"\n"):
    """A `do` that lets go of the FIFO that `act(subject)` makes the program open."""
    def do(subject):
        thread = beside(act, subject)
        subject.feed(path, text)
        thread.join(30)
    return do


def blocked_log(poke, for_s=1.3):
    """A `do` whose reader of the log stops; `poke(subject)` makes the program log."""
    def do(subject):
        subject.log.stop()
        poker = beside(poke, subject)
        subject.until_busy()
        time.sleep(for_s)
        if not subject.held:
            subject.log.go()
        poker.join(60)
    return do
