#!/usr/bin/env python3
"""Programs with hardly any room under the heap monitor: on small stacks a call of theirs works as it does without."""
import os
import shutil
import subprocess
import tempfile
import unittest

BINARY = os.environ["MIRE_BINARY_DIR"]
RUN = BINARY + "/sdk/mire-run"
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


if __name__ == "__main__":
    unittest.main()
