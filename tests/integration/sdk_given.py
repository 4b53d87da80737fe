#!/usr/bin/env python3
"""What mire-run is given by its parent: dispositions and masks of signals. It works whatever they are, and the program
finds the very same ones."""
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

BINARY = pathlib.Path(os.environ["MIRE_BINARY_DIR"])
RUN = str(BINARY / "sdk/mire-run")

# The names that mire-run takes, waits for or passes on, and some that it has nothing to do with.
SIGNALS = [signal.SIGCHLD, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGALRM,
           signal.SIGCONT, signal.SIGTSTP, signal.SIGTTOU, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGRTMIN + 3]
TELL = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]


class GivenTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="mire-given-")
        self.addCleanup(self.scratch.cleanup)

    def run_with(self, ignored, blocked, *command):
        def give():
            for number in ignored:
                signal.signal(number, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

        done = subprocess.run(command, preexec_fn=give, restore_signals=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        return done.returncode, done.stdout

    def mire_run(self, *program):
        return [RUN, "--store", self.scratch.name, "--app", "given", "--app-version", "1", "--", *program]

    def test_the_program_finds_what_mire_run_was_given(self):
        everything = set(signal.valid_signals())
        for ignored, blocked in [([], set()), ([signal.SIGCHLD], set()), ([], {signal.SIGCHLD}), (SIGNALS, set()),
                                 ([], everything), (SIGNALS, everything), ([signal.SIGCHLD], {signal.SIGCHLD})]:
            with self.subTest(ignored=ignored, blocked=len(blocked)):
                bare = self.run_with(ignored, blocked, *TELL)
                self.assertEqual(bare[0], 0)
                self.assertEqual(self.run_with(ignored, blocked, *self.mire_run(*TELL)), bare)

    def test_the_status_comes_through(self):
        for code in ("exit 7", "kill -9 $$", "(sleep 0.2; exit 3) & wait $!"):
            bare = self.run_with([signal.SIGCHLD], set(), "sh", "-c", code + "; exit $?")[0]
            watched = self.run_with([signal.SIGCHLD], set(), *self.mire_run("sh", "-c", code + "; exit $?"))[0]
            self.assertEqual(watched, 128 - bare if bare < 0 else bare, code)

    def test_a_program_that_is_not_there_is_told(self):
        self.assertEqual(self.run_with([signal.SIGCHLD], set(), *self.mire_run("no-such-program"))[0], 127)
        broken = os.path.join(self.scratch.name, "broken")
        with open(broken, "w") as file:
            file.write("\x7fnothing")
        os.chmod(broken, 0o755)
        self.assertEqual(self.run_with([signal.SIGCHLD], set(), *self.mire_run(broken))[0], 126)


if __name__ == "__main__":
    unittest.main()
