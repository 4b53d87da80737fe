#!/usr/bin/env python3
"""Programs that change what they may do while they are watched: they give up root, are confined, get namespaces of their own.
Every hang is in the store of mire-run, whole and with its stack, one session a run, and the program does as without Mire."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import sdk_run

SOURCE = pathlib.Path(os.environ.get("MIRE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = pathlib.Path(os.environ.get("MIRE_BINARY_DIR", SOURCE / "build/release"))
PROGRAM = BINARY / "tests/integration/rights"
HANG_MS = 700
SETTINGS = "daily_cap=100 suppress_ms=0 cpu_percent=0 power_percent=0"

# Steps of rights.c, and the functions that are to be told with it, in turn: where the program is killed, the last hang is open.
CASES = {
    "p1p": ["step_1"],
    "u1p": ["step_1"], "u1p2p3p": ["step_1", "step_2", "step_3"], "pu1p": ["step_1"], "p1pu2p": ["step_1", "step_2"],
    "pgu1p": ["step_1"], "pe1pE2pe3p": ["step_1", "step_2", "step_3"], "pdu1p": ["step_1"], "kpupg1p": None,
    "pr1p": ["step_1"], "pb1p": ["step_1"],
    "pcu1p": ["step_1"], "cu1p2p": ["step_1", "step_2"], "pc1pu2p": ["step_1", "step_2"], "fcu1p": ["step_1"],
    "p1u1p": ["step_1"], "pu1K": ["step_1"], "pcu1K": ["step_1"],
    "pn1p": ["step_1"], "p1n1p": ["step_1"], "ps1p": ["step_1"], "pm1p": ["step_1"], "fpn1p": ["step_1"], "pxp1p": ["step_1"], "xp1p2p": ["step_1", "step_2"], "pxfp1p": ["step_1"], "pnu1p": None,
}


def reports(store):
    found = []
    for path in sorted((store / "out").glob("*.report")):
        text = subprocess.run(["zstd", "-dcq"], input=path.read_bytes(), stdout=subprocess.PIPE, check=True, timeout=300).stdout
        found.append(json.loads(text))
    return found


def functions_of(report, symbols, program="rights"):
    """The program's functions that hold half of its samples or more."""
    image = next((i for i, one in enumerate(report["images"]) if one["name"].endswith(program)), None)
    nodes, frames, samples = report["nodes"], report["frames"], report["event"]["samples"]
    counts, total = {}, 0
    for node, weight in zip(samples["node"], samples["weight_ms"]):
        total += weight
        while node:
            frame = nodes["frame"][node - 1]
            node -= nodes["up"][node - 1]
            if frames["image"][frame] == image:
                name = symbols(frames["offset"][frame])
                counts[name] = counts.get(name, 0) + weight
    return {name for name, weight in counts.items() if 2 * weight >= total}


def symbols_of(program):
    """A function's name by an offset in the file: as nm lists them."""
    table = []
    for line in subprocess.run(["nm", program], stdout=subprocess.PIPE, text=True, check=True, timeout=300).stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tT":
            table.append((int(words[0], 16), words[2]))
    table.sort()
    return lambda offset: next((name for at, name in reversed(table) if at < offset), "?")


def start(store, root, steps):
    return subprocess.Popen([BINARY / "sdk/mire-run", "--app", "rights", "--app-version", "1", "--threshold", "400",
                             "--store", store, "--", PROGRAM, steps, root, str(HANG_MS)], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=os.environ | {"MIRE_SETTINGS": SETTINGS, "MIRE_MEMORY": "off"})


def end(process):
    stdout, stderr = process.communicate(timeout=300)
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


def run(store, root, steps):
    return end(start(store, root, steps))


def check(scratch, steps, expected, symbols):
    store, root = scratch / steps, scratch / "root"
    bare = subprocess.run([PROGRAM, steps, root], text=True, timeout=300, stdout=subprocess.PIPE)
    done = run(store, root, steps)
    status = 128 - bare.returncode if bare.returncode < 0 else bare.returncode
    assert (done.returncode, done.stdout, done.stderr) == (status, bare.stdout, ""), (bare, done)
    if status == 9: # this machine refuses a step, with Mire and without
        return "refused alike: " + bare.stdout.strip()
    if expected is None:
        return "alike"
    hangs = [report for report in reports(store) if "event" in report]
    told = sorted(hangs, key=lambda report: report["event"]["begin_wall_ms"])
    # A parent that waits for its child is stuck as well.
    told = [report for report in told if functions_of(report, symbols) & {"step_1", "step_2", "step_3"}]
    names = [next(iter(functions_of(report, symbols) & {"step_1", "step_2", "step_3"})) for report in told]
    assert names == expected, (names, expected, [report["event"]["duration_ms"] for report in hangs])
    for report in told:
        whole = HANG_MS * (2 if steps in ("p1n1p", "p1u1p") else 1)
        assert report["event"]["duration_ms"] >= whole - 10 or report["event"]["open"], report["event"]["duration_ms"]
    left = [path.name for path in (store / "box").iterdir()]
    assert left == [], left
    return "%d told" % len(told)


# The same in an app that links libmire: what arrives at its server, and words of its log. A report is sealed a moment after its
# hang, so "w" waits for the log to tell of it before the right comes back.
APPS = {
    "pu1p": (["step_1"], ["reports go to {place}"]), "p1pu2p": (["step_1", "step_2"], ["reports go to {place}"]),
    "pe1wE2p": (["step_1", "step_2"], ["reports go to {place}"]), "pu1p2p": (["step_1", "step_2"], []),
    "pcu1p": ([], ["1 reports could not be kept", "name a directory"]),
}


def check_app(scratch, steps, expected, words):
    program, server = BINARY / "tests/integration/rights_app", sdk_run.Server(sdk_run.OK)
    name = "rights-%s-%d" % (steps, os.getpid()) # what is left of another case is not this one's
    store, place = scratch / name, pathlib.Path("/var/tmp/mire-65534") / name
    try:
        done = subprocess.run([program, steps, scratch / "root", str(HANG_MS), store, server.url, "key", name], text=True,
                              timeout=300, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0 and done.stdout.startswith("start MIRE_OK\n") and "flush MIRE_OK\n" in done.stdout, done
        found = [report for report in server.reports() if "event" in report]
    finally:
        server.close()
        shutil.rmtree(place, ignore_errors=True)
    symbols, steps_known = symbols_of(program), {"step_1", "step_2", "step_3"}
    found = [functions_of(report, symbols, "rights_app") & steps_known for report in
             sorted(found, key=lambda report: report["event"]["begin_wall_ms"])]
    names = [next(iter(one)) for one in found if one]
    assert names == expected, (names, expected, done.stdout)
    for word in words:
        assert word.format(place=place) in done.stdout, (word, done.stdout)
    return "%d sent" % len(names)


def told_when_the_disk_is_full(scratch):
    """Reports that nothing can keep are counted, and mire-run says so at the end; the counts come with a later report."""
    store = scratch / "full"
    store.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", store], stderr=subprocess.DEVNULL).returncode != 0:
        return "skipped: no file system of its own is to be had"
    try:
        done = run(store, store, "pF1p2p")
        assert done.returncode == 0, done
        assert re.fullmatch(r"mire-run: 2 reports could not be kept: \S+ cannot be written: No space left on device; name a --store .*\n",
                            done.stderr), done.stderr
        (store / "fill").unlink()
        done = run(store, store, "p3p")
        assert (done.returncode, done.stderr) == (0, ""), done
        drops = [report["drops"] for report in reports(store) if "drops" in report]
        assert any(one.get("write") == 2 for one in drops), drops
    finally:
        subprocess.run(["umount", "-l", store], check=True)
    return "told"


def told_when_the_store_is_deleted(scratch):
    """The directory is made again for the reports to come; mire-run says at the end what is lost, and the ledger has one loss."""
    store, gone = scratch / "deleted", scratch / "gone"
    process = start(store, scratch / "root", "p1p2p3p")
    while process.poll() is None and not list((store / "out").glob("*.report")):
        time.sleep(0.01)
    store.rename(gone)
    done = end(process)
    assert done.returncode == 0, done
    assert re.fullmatch(r"mire-run: \S+ was deleted while the program ran, .*; name a --store .*\n", done.stderr), done.stderr
    before, after = reports(gone), reports(store)
    assert len(before) + len(after) == 3 and after, (len(before), len(after))
    assert not list((store / "out").glob("*.new"))
    done = run(store, scratch / "root", "p3p")
    assert (done.returncode, done.stderr) == (0, ""), done
    drops = [report["drops"] for report in reports(store) if "drops" in report]
    assert sum(one.get("broken", 0) for one in drops) == 1, drops
    return "told"


def told_when_limited(scratch, steps):
    """A hang that ends while the process may have no more memory or files is told: by a report, or as one that could not be kept."""
    store = scratch / steps
    done = run(store, scratch / "root", steps)
    assert done.returncode == 0, done
    told = len([report for report in reports(store) if "event" in report])
    kept = re.match(r"mire-run: (\d+) reports could not be kept: ", done.stderr)
    assert told + int(kept[1] if kept else 0) == 1, (told, done.stderr)
    return "told"


def main():
    if os.geteuid() != 0:
        print("skipped: only root has rights to give up")
        return 77
    failed = 0
    symbols = symbols_of(PROGRAM)
    with tempfile.TemporaryDirectory(prefix="mire-rights-") as name:
        scratch = pathlib.Path(name)
        scratch.chmod(0o755)
        (scratch / "root").mkdir()

        def one(steps):
            try:
                return True, check(scratch, steps, CASES.get(steps), symbols)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                return False, "FAILED %s" % error

        def one_app(steps):
            try:
                return True, check_app(scratch, steps, *APPS[steps])
            except (AssertionError, subprocess.TimeoutExpired) as error:
                return False, "FAILED %s" % error

        cases = sys.argv[1:] or list(CASES)
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for steps, (fine, said) in zip(cases, pool.map(one, cases)):
                failed += not fine
                print("%-12s %s" % (steps, said), flush=True)
        for steps in [] if sys.argv[1:] else APPS:
            fine, said = one_app(steps)
            failed += not fine
            print("app %-8s %s" % (steps, said), flush=True)
        if not sys.argv[1:]:
            for steps in ("pl1p", "pL1p"):
                print("limit %-6s %s" % (steps, told_when_limited(scratch, steps)), flush=True)
            print("deleted      %s" % told_when_the_store_is_deleted(scratch), flush=True)
            print("full disk    %s" % told_when_the_disk_is_full(scratch), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
