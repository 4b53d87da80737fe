#!/usr/bin/env python3
"""The fault table: mired under load while something of it is killed, stopped or starved. For each fault: the reports that were
acknowledged, those of them that are missing, those that are there or counted twice, and how long no report was taken.

    make faults             all of them
    make faults ONLY=disk   those whose name has that word

Exit status 1 if a report is missing or counted twice.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import urllib.error

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402

SENDERS = 8
BEFORE_S, AFTER_S = 2, 2  # of load, before a fault and once it is over
DISK_MB = 400


class Load:
    """Devices that send one report after the other; one that is not taken is sent again, under its own id."""

    def __init__(self, server, key):
        self.server, self.key = server, key
        self.taken, self.longest_s, self.last = [], 0.0, time.monotonic()
        self.lock, self.over = threading.Lock(), threading.Event()
        self.threads = [threading.Thread(target=self.send_all) for _ in range(SENDERS)]
        for thread in self.threads:
            thread.start()

    def send_all(self):
        while not self.over.is_set():
            id = mired.report_id()
            body = mired.report(id)
            while not self.over.is_set():
                status = None
                with contextlib.suppress(OSError, urllib.error.URLError, ConnectionError):
                    status = self.server.ask("POST", "/api/v1/reports", self.key, body)[0]
                if status == 202:
                    now = time.monotonic()
                    with self.lock:
                        self.taken.append(id)
                        self.longest_s = max(self.longest_s, now - self.last)
                        self.last = now
                    break
                assert status in (None, 401, 429, 500, 503, 507), status
                time.sleep(0.05)

    def again(self):
        """Reports are taken again."""
        count = len(self.taken)
        mired.until("reports are taken again", lambda: len(self.taken) > count + SENDERS)

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join()


def tree(pid):
    found = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            for child in (task / "children").read_text().split():
                found += tree(int(child))
    return found


def postmaster(server):
    return int((server.data / "postgres/postmaster.pid").read_text().split()[0])


def kill_all(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def restart(server, number):
    server.process.send_signal(number)
    server.process.wait(120)
    old = server.port
    server.settings = (*[one for one in server.settings if not one.startswith("--listen")], f"--listen=127.0.0.1:{old}")
    server.start()


def kill_mired(server):
    restart(server, signal.SIGKILL)


def stop_mired(server):
    restart(server, signal.SIGTERM)


def kill_mired_thrice_while_deriving_anew(server):
    symbols = server.key("shop", "symbols")
    mired.until("the key is known", lambda: server.ask("POST", "/api/v1/apps/shop/rekey", symbols, {"preview": False})[0] == 202)
    for _ in range(3):
        time.sleep(0.5)
        restart(server, signal.SIGKILL)
    mired.until("it is derived", lambda: server.sql("SELECT count(*) FROM rekey_job WHERE state NOT IN ('done', 'cancelled')") == ["0"])


def kill_postgres(server):
    kill_all(tree(postmaster(server)), signal.SIGKILL)


def kill_a_backend(server):
    pid = server.sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1")[0]
    kill_all([int(pid)], signal.SIGKILL)


def freeze_postgres(server):
    pids = tree(postmaster(server))
    kill_all(pids, signal.SIGSTOP)
    time.sleep(3)
    kill_all(pids, signal.SIGCONT)


def take_postgres_away(server):
    pid = postmaster(server)
    kill_all([pid], signal.SIGINT)  # a fast shutdown, as by somebody else; mired starts it again
    mired.until("it is gone", lambda: not pathlib.Path(f"/proc/{pid}").exists())


def fill_the_disk(server):
    junk = server.data / "junk"
    with contextlib.suppress(OSError), junk.open("wb") as out:
        while True:
            out.write(bytes(1 << 20))
            out.flush()
    time.sleep(3)
    junk.unlink()


FAULTS = {"mired killed": kill_mired, "mired stopped": stop_mired, "PostgreSQL killed": kill_postgres, "a backend killed": kill_a_backend,
          "PostgreSQL frozen": freeze_postgres, "PostgreSQL away": take_postgres_away, "disk full": fill_the_disk,
          "mired killed thrice while deriving anew": kill_mired_thrice_while_deriving_anew}


@contextlib.contextmanager
def small_disk(folder):
    """The data directory on a file system of its own; None where this user may not make one."""
    (folder / "data").mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=755", "mire-faults", folder / "data"],
                      capture_output=True).returncode:
        yield False
        return
    try:
        yield True
    finally:
        subprocess.run(["umount", "-l", folder / "data"], check=True)


def check(server, taken):
    """Missing, and twice: in the table of reports, or in the counters."""
    server.sql("CREATE TABLE IF NOT EXISTS faults_taken (id uuid)")
    for at in range(0, len(taken), 1000):
        server.sql("INSERT INTO faults_taken VALUES " + ", ".join(f"('{id}')" for id in taken[at:at + 1000]))
    missing = int(server.sql("SELECT count(*) FROM faults_taken t WHERE NOT EXISTS (SELECT FROM event e WHERE e.report_id = t.id)")[0])
    counted = int(server.sql("SELECT coalesce(sum(reports), 0) FROM version_hour")[0])
    events, distinct = map(int, server.sql("SELECT count(*) || ' ' || count(DISTINCT report_id) FROM event"))
    return missing, max(events - distinct, counted - events)


def run(name, fault):
    with mired.scratch("faults") as scratch:
        folder = pathlib.Path(scratch)
        with small_disk(folder) if fault is fill_the_disk else contextlib.nullcontext(True) as possible:
            if not possible:
                print(f"{name:42} not run: this user may not mount a file system", flush=True)
                return True
            server = mired.Mired(folder)
            try:
                key = server.key("shop", "ingest")
                mired.until("the key is known", lambda: server.ask("POST", "/api/v1/reports", key, mired.report(mired.report_id()))[0] == 202)
                load = Load(server, key)
                try:
                    time.sleep(BEFORE_S)
                    fault(server)
                    load.again()
                    time.sleep(AFTER_S)
                finally:
                    load.end()
                mired.until("all is worked on", lambda: server.sql("SELECT count(*) FROM inbox") == ["0"])
                missing, twice = check(server, load.taken)
            finally:
                server.stop()
    print(f"{name:42} {len(load.taken):12} {missing:8} {twice:6} {load.longest_s:10.1f}", flush=True)
    return not missing and twice == 0 and bool(load.taken)


def main():
    only = os.environ.get("ONLY", "")
    print(f"{'fault':42} {'acknowledged':>12} {'missing':>8} {'twice':>6} {'longest s':>10}", flush=True)
    good = [run(name, fault) for name, fault in FAULTS.items() if only in name]
    return 0 if good and all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
