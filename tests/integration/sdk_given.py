#!/usr/bin/env python3
"""What mire-run is given: dispositions and masks of signals, by its parent, and programs that have a sanitizer. It works
whatever they are, and the program is as without it."""
import os
import re
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
OF_LIBC = 0b11 << 31  # signals 32 and 33: libc keeps them for itself, and posix_spawn in a program with threads ignores them
TELL = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]


class Given(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="mire-given-")
        self.addCleanup(self.scratch.cleanup)

    def run_with(self, ignored, blocked, *command):
        def give():
            for number in ignored:
                signal.signal(number, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

        done = subprocess.run(command, preexec_fn=give, restore_signals=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        return done.returncode, re.sub(r"(?<=\t)[0-9a-f]{16}$", lambda found: f"{int(found[0], 16) & ~OF_LIBC:016x}", done.stdout, flags=re.M)

    def mire_run(self, *program):
        return [RUN, "--store", self.scratch.name, "--app", "given", "--app-version", "1", "--", *program]


class GivenTest(Given):
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


# A program with two threads and no race, which frees too early if it is given an argument.
SANITIZED = """
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *context)
{
    for (int i = 0; i < 300; i++) {
        pthread_mutex_lock(&lock);
        shared++;
        pthread_mutex_unlock(&lock);
        poll(NULL, 0, 0);
    }
    return context;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_create(&thread, NULL, add, argv);
    add(NULL);
    pthread_join(thread, NULL);
    char *volatile block = malloc(10);
    if (argc > 1)
        free(block);
    block[3] = 1;
    poll(NULL, 0, 50);
    printf("fine %d\\n", shared);
    if (argc == 1)
        free(block);
    return 0;
}
"""


class SanitizerTest(Given):
    def test_a_program_with_a_sanitizer_runs_as_without(self):
        for kind in ("address", "thread"):
            program = os.path.join(self.scratch.name, kind)
            built = subprocess.run(["gcc", "-g", "-xc", "-", "-fsanitize=" + kind, "-pthread", "-o", program], input=SANITIZED, text=True,
                                   stderr=subprocess.PIPE, timeout=300)
            if built.returncode != 0:
                self.skipTest("no compiler with this sanitizer: " + built.stderr)
            for words in ([program], [program, "free"], ["sh", "-c", program + "; :"], ["sh", "-c", program + " free; exit $?"]):
                bare = self.run_with([], set(), *words)
                status, text = self.run_with([], set(), *self.mire_run(*words))
                self.assertEqual(status, bare[0], text)
                self.assertEqual("ERROR: AddressSanitizer" in text, "ERROR: AddressSanitizer" in bare[1], text)
                self.assertEqual("WARNING: ThreadSanitizer" in text, "WARNING: ThreadSanitizer" in bare[1], text)
                self.assertEqual("fine 600" in text, "fine 600" in bare[1], text)
                self.assertEqual("cannot be watched" in text, words[0] == program, text)


if __name__ == "__main__":
    unittest.main()
