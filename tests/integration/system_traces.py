#!/usr/bin/env python3
"""The system's records of ended runs, with their traces (as Android keeps them): verdicts and issues at the server.

A real process is killed; its next start is told how the system saw the end, and reads the trace. The traces are files of the
corpora, and those of ../shared/data/reports where they are at hand.
"""
import concurrent.futures
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["MIRE_SOURCE_DIR"], "tests", "support"))
from mired import BINARY, Mired, scratch, until

APP = BINARY / "tests/integration/ended_app"
CORPUS = pathlib.Path(os.environ["MIRE_SOURCE_DIR"]) / "tests/fuzz/corpus"
DATA = pathlib.Path(os.environ["MIRE_SOURCE_DIR"]).parent / "shared/data/reports"
HANG, CRASH, SIGNAL = 4, 3, 2

# trace, the run's state, the system's reason and status: verdict, a part of Caller1, at least so many threads
CASES = [
    (CORPUS / "anr/three-threads", "idle", HANG, 0, "watchdog_kill", "com.example.Work.step", 2),
    (CORPUS / "anr/three-threads", "hang", HANG, 0, "watchdog_kill", "ended_app+", 3),
    (CORPUS / "tombstone/small", "idle", SIGNAL, signal.SIGSEGV, "crash", "crash_here", 0),
    (CORPUS / "tombstone_text/native", "idle", SIGNAL, signal.SIGABRT, "abort", "Work::step(int)", 0),
    (DATA / "anr/bitdrift-anr_deadlock.txt", "idle", HANG, 0, "watchdog_kill", "FatalIssueGenerator.startProcessing", 30),
    (DATA / "anr/bitdrift-anr_sleep_main_thread.txt", "hang", HANG, 0, "watchdog_kill", "ended_app+", 30),
    (DATA / "anr/bitdrift-anr1.txt", "idle", HANG, 0, "watchdog_kill", "", 30),
    (DATA / "tombstone/tombstone_anr_arm64-v8a.txt", "idle", HANG, 0, "watchdog_kill", "MainActivity.testAnrInput_onClick", 10),
]


def kill_run(store, state):
    """The name of a run that is killed in that state."""
    with subprocess.Popen([APP, store, state], stdout=subprocess.PIPE, text=True) as process:
        run = process.stdout.readline().strip()
        time.sleep(5)  # two seconds, and time for the check thread to get a processor
        process.send_signal(signal.SIGKILL)
    return run


def only_issue(mired, app):
    """The only issue of an app, once it is there, and its report."""
    until("an issue", lambda: mired.issues(app))
    issue, = mired.issues(app)
    reports = mired.get(f"/apps/{app}/issues/{issue['id']}/reports")["reports"]
    assert len(reports) == 1, reports
    return issue, mired.get(f"/apps/{app}/issues/{issue['id']}/reports/{reports[0]['id']}")


def check(mired, folder, number, case):
    trace, state, end, status, verdict, caller1, threads = case
    store = folder / f"store-{number}"
    key = mired.key(f"ended-app-{number}", "ingest")
    run = kill_run(store, state)
    subprocess.run([APP, store, "start", mired.url, key, run, str(end), str(int(status)), trace], check=True, timeout=200)
    issue, report = only_issue(mired, f"ended-app-{number}")
    assert report["exit"]["verdict"] == verdict, (trace, report["exit"])
    assert caller1 in issue["caller1"], (trace, issue["caller1"])
    assert len(report["threads"]) >= threads, (trace, len(report["threads"]))


def main():
    with scratch("traces") as name:
        folder = pathlib.Path(name)
        mired = Mired(folder)
        try:
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                cases = enumerate(case for case in CASES if case[0].exists())
                list(pool.map(lambda of: check(mired, folder, *of), cases))
        finally:
            mired.stop()
    if not DATA.exists():
        print("../shared/data/reports is not at hand: no real trace was read")


if __name__ == "__main__":
    main()
