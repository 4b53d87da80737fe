"""Evidence that a program of a test was kept from running, and what a test does with it.

A hang of a known length is one only while the program gets a processor when it asks for one. Two things show that it did not: a sleep
that ends late, and the kernel's count of the time in which programs waited for a processor (/proc/pressure/cpu, where the kernel has
it). A failure in such a time proves nothing, so that the test is tried again. A failure at any other time stands.
"""

import bisect
import functools
import itertools
import pathlib
import threading
import time
import unittest

TRIES = 4


def waited_ns():
    """Time in which at least one program of this machine waited for a processor; None if unknown."""
    try:
        return int(pathlib.Path("/proc/pressure/cpu").read_text().split("total=")[1].split()[0]) * 1000
    except (OSError, IndexError, ValueError):
        return None


class Witness:
    """Sleeps all the time. Notes each sleep that ended late, and how long programs have waited."""

    STEP_NS, LATE_NS = 10_000_000, 20_000_000
    LOOK_STEPS = 10      # between two readings of the kernel's count
    WAITED_SHARE = 0.9   # of a time in which some program always waited; the tests' own programs make less

    def __init__(self):
        self.gaps, self.waits = [], [(time.monotonic_ns(), waited_ns())]
        threading.Thread(target=self.look, daemon=True).start()

    def look(self):
        for step in itertools.count():
            due = time.monotonic_ns() + self.STEP_NS
            time.sleep(self.STEP_NS / 1e9)
            now = time.monotonic_ns()
            if now - due > self.LATE_NS:
                self.gaps.append((due, now))
            if step % self.LOOK_STEPS == 0:
                self.waits.append((now, waited_ns()))

    def saw(self, begin, end):
        """Were programs kept from running between the two?"""
        at = bisect.bisect(self.gaps, (end, end))
        return any(gap_end > begin for _, gap_end in self.gaps[max(0, at - 50):at]) or self.waited_share(begin, end) > self.WAITED_SHARE

    def waited_share(self, begin, end):
        first = max(0, bisect.bisect_right(self.waits, begin, key=lambda row: row[0]) - 1)
        last = bisect.bisect_left(self.waits, end, key=lambda row: row[0])
        rows = self.waits[first:last + 1]
        if len(rows) < 2 or rows[0][1] is None or rows[-1][1] is None:
            return 0
        return (rows[-1][1] - rows[0][1]) / (rows[-1][0] - rows[0][0])


@functools.cache
def witness():
    """The one of this process."""
    return Witness()


def judged(attempt, *words):
    """None, or why attempt(*words) fails. Its result is None or such a text; it may run again."""
    for _ in range(TRIES):
        begin = time.monotonic_ns()
        wrong = attempt(*words)
        if not wrong or not witness().saw(begin, time.monotonic_ns()):
            return wrong
    return print("starved  each of %d times, at last: %s" % (TRIES, wrong), flush=True)


def unless_starved(what):
    """A test method, or all those of a class: a failure while nobody could run is tried again, and skipped if each try was such."""
    if isinstance(what, type):
        for name in [name for name in dir(what) if name.startswith("test_")]:
            setattr(what, name, unless_starved(getattr(what, name)))
        return what
    witness()

    @functools.wraps(what)
    def test(self):
        for number in range(TRIES):
            begin = time.monotonic_ns()
            try:
                return what(self)
            except unittest.SkipTest:
                raise
            except Exception as error:  # a report too few, a program that gave up
                if not witness().saw(begin, time.monotonic_ns()):
                    raise
                why = error
            self.tearDown()
            self.setUp()
        self.skipTest("starved each of %d times: %s" % (TRIES, why))
    return test
