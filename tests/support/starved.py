"""Evidence that a program of a test was kept from running, and what a test does with it.

A hang of a known length is one only while the program gets a processor when it asks for one. A failure in a time in which this machine
let nobody run proves nothing, so that the test is tried again. A failure at any other time stands.
"""

import bisect
import functools
import threading
import time

TRIES = 4


class Witness:
    """Sleeps all the time, and notes each sleep that ended late: then nobody could run."""

    STEP_NS, LATE_NS = 10_000_000, 20_000_000

    def __init__(self):
        self.gaps = []
        threading.Thread(target=self.look, daemon=True).start()

    def look(self):
        while True:
            due = time.monotonic_ns() + self.STEP_NS
            time.sleep(self.STEP_NS / 1e9)
            now = time.monotonic_ns()
            if now - due > self.LATE_NS:
                self.gaps.append((due, now))

    def saw(self, begin, end):
        at = bisect.bisect(self.gaps, (end, end))
        return any(gap_end > begin for _, gap_end in self.gaps[max(0, at - 50):at])


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
            except AssertionError as error:
                if not witness().saw(begin, time.monotonic_ns()):
                    raise
                why = error
            self.tearDown()
            self.setUp()
        self.skipTest("starved each of %d times: %s" % (TRIES, why))
    return test
