"""Heap monitors as environments: Mire's two modes, and its neighbours from Debian, each counted in the process alone.

exact         with room for all that any of the programs holds
bounded       exact, with the room it has by default: that of the largest does not do, and it goes over to samples
sampled       one block in 512 KiB on average
idle_thread   no monitor, but a thread that does nothing: the allocator of a program with threads costs more, which stands in
              the ratios of all that have an ordinary one (docs/adr/0029; Mire's own are not)
heaptrack     every allocation with its stack, written to a file; what reads the file afterwards is not counted
gperftools    tcmalloc, a stack every 512 KiB; jemalloc likewise. Both bring their own allocator, which may be faster
              than the one they stand in for, so their ratios can be below 1
"""
import contextlib
import glob
import json
import os
import shutil
import subprocess
import time

LIBRARIES = "/usr/lib/x86_64-linux-gnu" if os.path.isdir("/usr/lib/x86_64-linux-gnu") else "/usr/lib/aarch64-linux-gnu"
EXACT, BOUNDED, SAMPLED = "exact", "bounded", "sampled"
IDLE_THREAD, HEAPTRACK, GPERFTOOLS, JEMALLOC = "idle_thread", "heaptrack", "gperftools", "jemalloc"
ROOM_BYTES = 64 << 20


class Monitors:
    """Environments by name; what a run leaves behind is cleared by `clear`."""

    def __init__(self, binary, scratch):
        self.store, self.out = scratch + "/store", scratch + "/heaptrack.out"
        self.environments = {
            EXACT: {**self.mire(binary, "exact"), "MIRE_MEMORY_BUDGET": str(ROOM_BYTES)},
            BOUNDED: self.mire(binary, "exact"),
            SAMPLED: self.mire(binary, "sampled"),
            IDLE_THREAD: {"LD_PRELOAD": binary + "/tests/bench/libbench_memory_idle.so"},
            HEAPTRACK: {"LD_PRELOAD": "/usr/lib/heaptrack/libheaptrack_preload.so", "DUMP_HEAPTRACK_OUTPUT": self.out},
            GPERFTOOLS: {"LD_PRELOAD": LIBRARIES + "/libtcmalloc.so.4", "TCMALLOC_SAMPLE_PARAMETER": str(512 << 10)},
            JEMALLOC: {"LD_PRELOAD": LIBRARIES + "/libjemalloc.so.2", "MALLOC_CONF": "prof:true,lg_prof_sample:19"},
        }
        for name, environment in self.environments.items():
            if not os.path.exists(environment["LD_PRELOAD"]):
                raise SystemExit(f"not installed: {environment['LD_PRELOAD']} ({name})")

    def mire(self, binary, mode):
        """The hang monitor waits for longer than any run lasts: what is measured is the heap monitor."""
        return {"LD_PRELOAD": binary + "/sdk/libmire-preload.so", "MIRE_APP": "bench", "MIRE_APP_VERSION": "1",
                "MIRE_STORE": self.store, "MIRE_MEMORY": mode, "MIRE_THRESHOLD_MS": "60000"}

    def watch(self, process, dump):
        """What the run's tables say, read again and again until it ends; the last answer, None if there was none."""
        said = None
        while process.poll() is None:
            for path in glob.glob(self.store + "/box/*.heap"):
                done = subprocess.run([dump, path], stdout=subprocess.PIPE)
                said = json.loads(done.stdout) if done.returncode == 0 else said
            time.sleep(0.01)
        return said

    def clear(self):
        for path in glob.glob(self.store + "/box/*.heap"):  # may be the name of a file elsewhere
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.realpath(path))
        shutil.rmtree(self.store, ignore_errors=True)
        for path in glob.glob(self.out + "*"):
            os.unlink(path)
