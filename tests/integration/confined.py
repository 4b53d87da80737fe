#!/usr/bin/env python3
"""Programs with hardly any room under the heap monitor: on small stacks, and with little memory that may be locked, a call of theirs
ends as it does without."""
import os
import resource
import shutil
import subprocess
import tempfile
import unittest

BINARY = os.environ["MIRE_BINARY_DIR"]
RUN = BINARY + "/sdk/mire-run"
LOCKED = BINARY + "/tests/integration/locked"
TIGHT = BINARY + "/tests/integration/tight"
LIMIT_S = int(os.environ.get("MIRE_LIMIT_S", 100))


class ConfinedTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="mire-confined-")
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)

    def run_under_mire(self, *command, mode="sampled:512", **options):
        environment = dict(os.environ, MIRE_MEMORY=mode)
        return subprocess.run([RUN, "--store", self.scratch + "/store", "--", *command], env=environment, timeout=LIMIT_S,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def check_tight(self, stack, leave):
        for call in ("malloc", "big", "again", "pages", "do-poll"):
            self.check_call(stack, call, leave)
        self.check_call(stack, "new-code", leave + 1024)  # the list of modules is read

    def check_call(self, stack, call, leave):
        bare = subprocess.run([TIGHT, stack, call, str(leave)], timeout=LIMIT_S, check=False)
        self.assertEqual(bare.returncode, 0, "the program itself needs more stack")
        for mode in ("sampled:512", "exact"):
            with self.subTest(call=call, mode=mode):
                done = self.run_under_mire(TIGHT, stack, call, str(leave), mode=mode)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_threads_with_two_kilobytes_of_stack_left_allocate(self):
        self.check_tight("thread", 2304)

    def test_coroutines_with_two_kilobytes_of_stack_left_allocate(self):
        self.check_tight("coroutine", 2304)

    def check_locked(self, flags, limit_kib, more_kib):
        """Every call ends as it does without, and so much is locked: ours are neither counted nor filled."""
        _, most = resource.getrlimit(resource.RLIMIT_MEMLOCK)
        if most != resource.RLIM_INFINITY and most < limit_kib << 10:
            self.skipTest("so much must not be locked here")
        words = [LOCKED, flags, str(limit_kib), str(more_kib)]
        user = {"user": "nobody", "group": "nogroup"} if os.geteuid() == 0 else {}
        os.chmod(self.scratch, 0o777)
        bare = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=True, **user).stdout.splitlines()
        for mode in ("sampled", "exact"):
            with self.subTest(flags=flags, limit=limit_kib, mode=mode):
                done = self.run_under_mire(*words, mode=mode, **user)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout.splitlines()[:-2], bare[:-2])
                for one, other in zip(done.stdout.splitlines()[-2:], bare[-2:]):
                    self.assertLess(abs(int(one.split()[1]) - int(other.split()[1])), 12 << 10, (done.stdout, bare))

    def test_a_program_locks_its_memory_within_its_limit(self):
        for flags in ("cf", "c", "cfo", "f"):
            self.check_locked(flags, 8 << 10, 3 << 10)

    def test_a_lock_beyond_the_limit_fails_as_it_does_without(self):
        self.check_locked("cf", 1 << 10, 3 << 10)
        self.check_locked("cf", 0, 3 << 10)
        self.check_locked("cf", 8 << 10, 12 << 10)


if __name__ == "__main__":
    unittest.main()
