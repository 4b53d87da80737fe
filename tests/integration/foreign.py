#!/usr/bin/python3
"""tests/integration/foreign.py - reports and profiles of others through `mire show` and `mire memory`.

Real files of ../shared/data/reports are read where they are at hand.

    foreign.py --profiles   also profiles that their own makers write, Go's runtime and gperftools: their sums, and those of what
                            `mire memory --pprof` makes of them, are compared by pprof itself
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(os.environ[name]) for name in ("MIRE_SOURCE_DIR", "MIRE_BINARY_DIR"))
MIRE = BUILD / "server/mire"
CORPUS, DATA = SOURCE / "tests/fuzz/corpus", SOURCE / "../shared/data/reports"
TCMALLOC = pathlib.Path("/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4")


def mire(*args):
    done = subprocess.run([MIRE, *map(str, args)], capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def shown(path, *parts):
    """`mire show` says all of these."""
    code, out, err = mire("show", path)
    assert code == 0, err
    for part in parts:
        assert re.search(part, out, re.M), f"{path}: no {part}\n{out}"


def of_the_corpus(folder):
    """Each format is known by its content; verdicts follow."""
    shown(CORPUS / "anr/three-threads", r'^kind +hang, lock, held by pool "one" > thread in .*com\.example\.Store\.put|^kind +hang, lock, held by',
          r"a lock of this thread: a deadlock", r"^Caller1 +com\.example\.Work\.step \(Work\.kt:151\)", r"^note +lock cycle: \"main\" waits")
    shown(CORPUS / "anr/cycle-beside-main", r"held by a, which is in a deadlock with others")
    shown(CORPUS / "anr/idle", r"^kind +idle, ")
    shown(CORPUS / "tombstone/small", r"^Caller1 +crash_here \(libapp\.so\)", r"^note +cause: null pointer")
    shown(CORPUS / "tombstone_text/native", r"^Caller1 +Work::step\(int\) \(libapp\.so\)", r"^why it ended +it called abort")
    shown(CORPUS / "tombstone_text/java", r"^Caller1 +xcrash\.Inner\.go \(Inner\.java:7\)")
    shown(CORPUS / "pprof/heap", r"^kind +memory, .* of Widget", r"main\.main")
    shown(CORPUS / "pprof/cpu", r"^kind +cpu, cpu", r"main\.main  main\.go:7")
    shown(CORPUS / "otlp/stacks", r"^app +shop", r"^kind +cpu, cpu")
    shown(CORPUS / "heap_text/scaled", r"^kind +memory, ", r"libx\.so\+0x1010")
    shown(CORPUS / "aei/dumpsys", r"^kind +session record: \d+ runs ended", r"^run ended +.* \(\w+\), .*sure, at 20\d\d-")
    bad = folder / "bad"
    bad.write_text("----- pid 1 at 2024-01-01 00:00:00 -----\nCmd line: a\n")
    code, _, err = mire("show", bad)
    assert code == 1 and "line 2: the dump has no thread" in err, err


def every_file():
    """One run over all files: what is not JSON is refused with its place, all else becomes reports, four of a payload of four."""
    code, out, err = mire("import", "--dry-run", DATA)
    files = sorted(path for path in DATA.rglob("*") if path.is_file())
    counts = {path.name: sum(line.startswith(f"{path}: ") for line in out.splitlines()) for path in files}
    of_many = {"xcode_simulated.json": 4, "xcode_simulated_macOS_12.json": 4, "tree-garbage.json": 0}
    assert counts == {path.name: of_many.get(path.name, 1) for path in files}, counts
    assert code == 1 and re.search(r"tree-garbage\.json: byte 624: the text ends here, too early", err), err


def real_files():
    """What the files' names say."""
    if not DATA.exists():
        return print("../shared/data/reports is not at hand: no real file was read")
    app = r"io\.bitdrift\.gradletestapp\.FatalIssueGenerator\."
    shown(DATA / "anr/bitdrift-anr_deadlock.txt", r"^kind +hang, lock, held by background_thread_for_deadlock_demo in .*: a deadlock",
          rf"^Caller1 +{app}startProcessing", r"^hang +5002 ms", r"in the foreground")
    shown(DATA / "anr/bitdrift-anr_sleep_main_thread.txt", r"^kind +hang, sleep", rf"^Caller1 +{app}forceThreadSleepAnr")
    shown(DATA / "anr/bitdrift-anr1.txt", r"^kind +hang, lock", r"^threads +36$",
          r"^Caller1 +bd_logger::async_log_buffer::AsyncLogBuffer<R>::enqueue_log ")
    shown(DATA / "anr/sentry-thread_dump.txt", r"^kind +hang, lock, held by ", r"^Caller1 +io\.sentry\.samples\.android\.MainActivity\$2\.run")
    shown(DATA / "anr/sentry-thread_dump_no_stacktrace.txt", r"^Caller1 +io\.sentry\.samples\.android\.MainActivity\.onCreate")
    shown(DATA / "tombstone/sentry-tombstone.pb.gz", r"^Caller1 +Java_io_sentry_samples_android_NativeSample_crash", r"^threads +62$")
    shown(DATA / "tombstone/tombstone_anr_arm64-v8a.txt", r"^kind +hang, sleep", r"^Caller1 +xcrash\.sample\.MainActivity\.testAnrInput_onClick")
    shown(DATA / "heap/gobench.heap", r"^live +7\.4 MiB")
    shown(DATA / "heap/cppbench.heap", r"^live +77\.2 MiB")
    body = r"closure #1 in closure #1 in ContentView\.body\.getter \(CrashTest\.debug\.dylib\)"
    shown(DATA / "kscrash/Hang.json", r"^hang +8002 ms", r"^kind +hang, sleep", rf"^Caller1 +{body}")
    for name in ("Hang", "WatchdogTimeout", "MainThreadDeadlock", "Abort"):
        count = len(json.loads((DATA / f"kscrash/{name}.json").read_bytes())["crash"]["threads"])
        shown(DATA / f"kscrash/{name}.json", rf"^threads +{count}$")
    shown(DATA / "kscrash/WatchdogTimeout.json", r"^hang +250 ms.*the process was killed in it", r"^kind +killed", rf"^Caller1 +{body}")
    shown(DATA / "kscrash/MainThreadDeadlock.json", r"^kind +killed", r"^Caller1 +block in -\[Crasher deadlock\]")
    shown(DATA / "kscrash/Abort.json", r"^kind +crash", r"^Caller1 +-\[Crasher doAbort\]", r"^why it ended +it called abort")
    shown(DATA / "kscrash/Profile.json", r"^trigger +call", r"^event +262 ms")
    shown(DATA / "kscrash/test-oom.json", r"^kind +foom")
    shown(DATA / "metrickit/xcode_simulated.json", r"^hang +20000 ms", r"^app +app 1\.0")
    shown(DATA / "metrickit/tree-real.json", r"^Caller1 +Sentry\+0x6540c")
    shown(DATA / "sentry/converted-event.json", r"^kind +crash", r"^Caller1 +CrashLibiOS\+0x6377", r"^threads +9$")
    every_file()


GO = """
package main

import ("os"; "runtime"; "runtime/pprof")

var kept [][]byte
var sum float64

//go:noinline
func keep(n int) { for i := 0; i < n; i++ { kept = append(kept, make([]byte, 100000)) } }

//go:noinline
func waste(n int) { for i := 0; i < n; i++ { sum += float64(len(make([]byte, 70000+i))) } }

//go:noinline
func burn() { for i := 0; i < 300000000; i++ { sum += float64(i) } }

func main() {
    cpu, _ := os.Create("cpu.pb.gz")
    pprof.StartCPUProfile(cpu)
    keep(300); waste(2000); burn()
    pprof.StopCPUProfile(); cpu.Close()
    runtime.GC()
    heap, _ := os.Create("heap.pb.gz")
    pprof.WriteHeapProfile(heap); heap.Close()
    text, _ := os.Create("heap.txt")
    pprof.Lookup("heap").WriteTo(text, 1); text.Close()
}
"""


def top(folder, path, index):
    """pprof's own sums by function, in bytes; the total of all."""
    env = dict(os.environ, HOME=str(folder), PPROF_TMPDIR=str(folder), GOFLAGS="-mod=mod", GOTELEMETRY="off")
    done = subprocess.run(["go", "tool", "pprof", "-symbolize=none", "-nodecount=0", "-nodefraction=0", "-edgefraction=0", "-top", "-unit=B",
                           f"-sample_index={index}", path], capture_output=True, text=True, timeout=300, env=env, check=False)
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^ *(\d+)B? +[\d.]+% +[\d.]+% +(\d+)B? +[\d.]+%  (.*?)(?: \(inline\))?$", done.stdout, re.M)
    assert rows, done.stdout
    return {name: (int(flat), int(both)) for flat, both, name in rows}


def of_go(folder):
    """Go's profiles, in and out again."""
    if not shutil.which("go"):
        return print("Go is not installed: its profiles were not read")
    (folder / "app.go").write_text(GO)
    env = dict(os.environ, HOME=str(folder), GOCACHE=str(folder / "cache"), GOTELEMETRY="off", GO111MODULE="off")
    subprocess.run(["go", "build", "-o", "app", "app.go"], cwd=folder, env=env, check=True, timeout=600)
    subprocess.run(["./app"], cwd=folder, check=True, timeout=300)
    code, _, err = mire("memory", "--pprof", folder / "again.pb.gz", folder / "heap.pb.gz")
    assert code == 0, err
    for index in ("inuse_space", "inuse_objects", "alloc_space", "alloc_objects"):
        was, now = (top(folder, folder / name, index) for name in ("heap.pb.gz", "again.pb.gz"))
        now.pop("(stack not kept)", None)
        assert was == now, f"{index}\n{was}\n{now}"
    shown(folder / "heap.pb.gz", r"^Caller1 +main\.keep ")
    shown(folder / "heap.txt", r"^kind +memory", r"^Caller1 +main\.keep ")
    shown(folder / "cpu.pb.gz", r"^kind +cpu, cpu", r"^Caller1 +main\.burn ")


C = """
#include <stdlib.h>
#include <string.h>
void *kept[1000];
__attribute__((noinline)) static void keep(int i) { kept[i] = malloc(5000); memset(kept[i], 1, 5000); }
int main(void) { for (int i = 0; i < 1000; i++) keep(i); return kept[7] == 0; }
"""


def of_gperftools(folder):
    """gperftools' heap profile in text."""
    if not TCMALLOC.exists() or not shutil.which("go") or os.environ.get("MIRE_SANITIZE"):
        return print("gperftools, or Go's pprof, is not installed, or a sanitizer is: its profiles were not read")
    (folder / "app.c").write_text(C)
    subprocess.run(["cc", "-g", "-O1", "-o", folder / "capp", folder / "app.c"], check=True, timeout=300)
    env = dict(os.environ, LD_PRELOAD=str(TCMALLOC), HEAPPROFILE=str(folder / "prof"), HEAP_PROFILE_INUSE_INTERVAL="1000000")
    subprocess.run([folder / "capp"], env=env, check=True, timeout=300, stderr=subprocess.DEVNULL)
    path = sorted(folder.glob("prof.*.heap"))[-1]
    code, _, err = mire("memory", "--pprof", folder / "c.pb.gz", path)
    assert code == 0, err
    for index in ("inuse_space", "inuse_objects"):
        was, now = (sum(flat for flat, _ in top(folder, name, index).values()) for name in (path, folder / "c.pb.gz"))
        assert was == now > 0, (index, was, now)
    shown(path, r"^Caller1 +(keep|main|capp\+0x)")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        of_the_corpus(folder)
        real_files()
        if "--profiles" in sys.argv:
            of_go(folder)
            of_gperftools(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
