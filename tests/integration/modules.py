#!/usr/bin/env python3
"""Programs as each linker lays them out, and code made at run time: whom a hang is blamed on, and who holds the memory."""
import glob
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest

BINARY = os.environ["MIRE_BINARY_DIR"]
RUN = os.path.join(BINARY, "sdk", "mire-run")
MIRE = os.path.join(BINARY, "server", "mire")
CC = os.environ.get("CC", "cc")

# Thirty megabytes and 0.8 seconds in a library: of its own processor time, so that a busy machine makes it longer, not less.
LIBRARY = r"""
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/time.h>
static volatile sig_atomic_t over;
static void expire(int number) { over = number; }
/* For 0.8 s of its own processor time, without a system call: on a busy machine a thread that makes one loses the
   processor there, and the time of its wait would be that of the call. */
__attribute__((noinline)) void unpack_page(void)
{ volatile unsigned long n = 0; struct itimerval after = {{0, 0}, {0, 800000}};
  signal(SIGVTALRM, expire); setitimer(ITIMER_VIRTUAL, &after, 0); while (!over) n++; }
__attribute__((noinline)) void *keep_page(void)
{ void *page = malloc(1 << 20); memset(page, 1, 1 << 20); return page; }
__attribute__((noinline)) int unpack_book(int pages)
{ int kept = 0; for (int i = 0; i < pages; i++) kept += keep_page() != 0; unpack_page(); return kept; }
"""
PROGRAM = r"""
#include <poll.h>
#include <signal.h>
int unpack_book(int pages);
int main(void)
{ int kept; for (int i = 0; i < 3; i++) poll(0, 0, 30); kept = unpack_book(30);
  poll(0, 0, 300); raise(SIGKILL); return kept; }
"""
LAYOUTS = [
    ("bfd", "bfd", []),
    ("gold", "gold", []),
    ("lld", "lld", []),
    ("lld-2m", "lld", ["-Wl,-z,max-page-size=0x200000"]),
    ("mold", "mold", []),
]

# Code for the processor, put at another place in each run; argv[1]: the memory it lies in. It counts down for a while.
# argv[3]: it keeps a frame pointer; it pushes nothing; it pushes, and uses the frame pointer for something else.
MADE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
#ifdef __x86_64__
static const unsigned char framed[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};
static const unsigned char bare[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};
static const unsigned char pushes[] = {0x55, 0x53, 0x48, 0x83, 0xec, 0x48, 0x31, 0xed, 0x48, 0xff, 0xcf, 0x75, 0xfb,
                                       0x48, 0x83, 0xc4, 0x48, 0x5b, 0x5d, 0xc3};
#else
static const unsigned char framed[] = {0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x00, 0x04, 0x00, 0xf1,
                                       0xe1, 0xff, 0xff, 0x54, 0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6};
#define bare framed
#define pushes framed
#endif
static volatile sig_atomic_t over;
static void expire(int number) { over = number; }
__attribute__((noinline)) void run_script(void (*go)(long))
{ struct itimerval after = {{0, 0}, {0, 800000}};
  signal(SIGVTALRM, expire); setitimer(ITIMER_VIRTUAL, &after, 0); do go(10000000); while (!over); }
int main(int argc, char **argv)
{
  char name[64]; size_t size = 1 << 20; char *memory; int fd = -1;
  if (strcmp(argv[1], "memfd") == 0) fd = memfd_create("doublemapper", MFD_CLOEXEC);
  if (strcmp(argv[1], "file") == 0)
    { sprintf(name, "/tmp/jitted-%d-0.so", getpid()); fd = open(name, O_RDWR | O_CREAT, 0600); unlink(name); }
  if (fd >= 0 && ftruncate(fd, size)) return 1;
  memory = mmap(0, size, PROT_READ | PROT_WRITE | PROT_EXEC, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
  memory += atoi(argv[2]) * 4112;
  if (argv[3][0] == 'f') memcpy(memory, framed, sizeof(framed));
  if (argv[3][0] == 'b') memcpy(memory, bare, sizeof(bare));
  if (argv[3][0] == 'p') memcpy(memory, pushes, sizeof(pushes));
  __builtin___clear_cache(memory, memory + 64);
  for (int i = 0; i < 3; i++) poll(0, 0, 30);
  run_script((void (*)(long))memory);
  poll(0, 0, 30);
  return 0;
}
"""


class ModulesTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="mire-modules-")

    def tearDown(self):
        self.scratch.cleanup()

    def path(self, *parts):
        return os.path.join(self.scratch.name, *parts)

    def compile(self, source, out, *options):
        done = subprocess.run([CC, "-x", "c", "-", "-g", "-O1", "-fno-optimize-sibling-calls", "-o", out, *options], input=source,
                              text=True, capture_output=True)
        return done.returncode == 0

    def run_it(self, name, *program):
        """The hang's report and the memory's, as `mire` shows them. On a machine that lets nobody run there is none: again."""
        for attempt in range(3):
            store = self.path("store-%s-%d" % (name, attempt))
            subprocess.run([RUN, "--store", store, "--threshold", "500", "--period", "10", "--", *program],
                           env={**os.environ, "MIRE_MEMORY": "exact"}, capture_output=True, timeout=300)
            shown = [subprocess.run([MIRE, "show", path], text=True, capture_output=True).stdout
                     for path in glob.glob(os.path.join(store, "out", "*.report"))]
            hangs = [text for text in shown if re.search("^hang ", text, re.M) and "launch" not in text]
            memory = [subprocess.run([MIRE, "memory", path], text=True, capture_output=True).stdout
                      for path in glob.glob(os.path.join(store, "memory", "*.heap"))]
            if hangs:
                return hangs[0], memory
        self.fail("no hang of %s was reported" % name)

    def run_all(self, jobs):
        """The same of several programs, two at a time."""
        out, room = {}, threading.Semaphore(2)

        def run(name, program):
            with room:
                out[name] = self.run_it(name, *program)

        threads = [threading.Thread(target=run, args=job) for job in jobs.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(set(out), set(jobs))
        return out

    def caller(self, text, number):
        return re.search(r"^Caller%d +(\S+)" % number, text, re.M).group(1)

    def test_each_linkers_layout_has_names(self):
        jobs = {}
        for name, linker, options in LAYOUTS:
            folder = self.path(name)
            os.mkdir(folder)
            options = ["-fuse-ld=" + linker, *options]
            if self.compile(LIBRARY, os.path.join(folder, "libbook.so"), "-shared", "-fPIC", *options) and \
               self.compile(PROGRAM, os.path.join(folder, "reader"), "-L" + folder, "-lbook", "-Wl,-rpath," + folder, *options):
                jobs[name] = [os.path.join(folder, "reader")]
        self.assertIn("bfd", jobs)
        self.assertIn("lld", jobs)
        for name, (hang, memory) in self.run_all(jobs).items():
            with self.subTest(name):
                self.assertEqual((self.caller(hang, 1), self.caller(hang, 2)), ("unpack_page", "unpack_book"))
                # keep_page may have a share too: on a busy machine each page of its memory may cost a wait
                self.assertRegex(hang, r"\n([ 0-9.]+%) +main\n\1 +unpack_book\n([ 0-9.]+% +(keep_page|mem|malloc|_).*\n)*[ 0-9.]+% +unpack_page\n")
                self.assertRegex(memory[0], r"1> keep_page .*\n +unpack_book .*\n +main ")

    def test_code_made_at_run_time_is_one_place_in_each_run(self):
        program = self.path("script")
        self.assertTrue(self.compile(MADE, program))
        jobs = {"%s-%s-%s" % (kind, at, code): [program, kind, at, code] for kind, at, code in
                (("memfd", "0", "framed"), ("memfd", "7", "framed"), ("memfd", "41", "framed"), ("file", "3", "framed"),
                 ("memfd", "5", "bare"), ("anonymous", "9", "pushes"))}
        for name, (hang, memory) in self.run_all(jobs).items():
            with self.subTest(name):
                self.assertEqual((self.caller(hang, 1), self.caller(hang, 2)), ("run_script", "run_script"))
                self.assertNotIn("doublemapper", hang)
                self.assertNotIn("jitted", hang)
                self.assertRegex(hang, r"main\n[ 0-9.]+% +run_script\n[ 0-9.]+% +\[anonymous code\]\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
