#!/usr/bin/env python3
"""Pages read from a streaming replica (database_read_url): they are read there, never before a change that somebody made, and from
the database itself while the replica is behind, stopped, frozen or gone."""

import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402

BIN = mired.postgres_bin()
PAGE = "/apps/alpha/issues?t=30d"


def unprivileged():
    """For subprocess: PostgreSQL does not run as root."""
    if os.getuid():
        return {}
    user = pwd.getpwnam("nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class Cluster:
    """A PostgreSQL on a socket of its own below `folder`."""

    def __init__(self, folder, data):
        self.folder, self.data = folder, data
        self.url = f"postgresql://mire@/postgres?host={folder}"

    def start(self):
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen([BIN / "postgres", "-D", self.data, "-k", self.folder, "-c", "listen_addresses=",
                                             "-c", "log_min_duration_statement=0", "-c", "fsync=off", "-c", "max_connections=60"],
                                            stderr=log, stdout=log, **unprivileged())
        mired.until("PostgreSQL answers", lambda: self.sql("SELECT 1", may_fail=True) == "1")

    def sql(self, text, may_fail=False):
        done = subprocess.run(["psql", "-qXAt", self.url, "-c", text], capture_output=True, text=True, timeout=60)
        assert may_fail or done.returncode == 0, done.stderr
        return done.stdout.strip()

    def log(self):
        return (self.folder / "log").read_text()

    def stop(self):
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGCONT)
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(60)


def make_folder(parent, name):
    folder = parent / name
    folder.mkdir()
    if unprivileged():
        shutil.chown(folder, "nobody", unprivileged()["group"])
    return folder


class Replica(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = mired.scratch("replica")
        cls.addClassCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        one, two = make_folder(folder, "one"), make_folder(folder, "two")
        subprocess.run([BIN / "initdb", "-D", one / "data", "-U", "mire", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"],
                       check=True, capture_output=True, **unprivileged())
        cls.origin = Cluster(one, one / "data")
        cls.origin.start()
        cls.addClassCleanup(cls.origin.stop)
        subprocess.run([BIN / "pg_basebackup", "-d", cls.origin.url, "-D", two / "data", "-R", "-c", "fast"], check=True,
                       capture_output=True, **unprivileged())
        cls.replica = Cluster(two, two / "data")
        cls.replica.start()
        cls.addClassCleanup(cls.replica.stop)
        cls.server = mired.Mired(folder, f"--database-url={cls.origin.url}", f"--database-read-url={cls.replica.url}")
        cls.addClassCleanup(cls.server.stop)
        key = cls.server.mire("key", "create", "alpha", "--scope", "ingest", "--database-url", cls.origin.url).strip()
        status, _, body = cls.server.ask("POST", "/api/v1/reports", key, mired.report(mired.report_id()), Content_Type="application/json")
        assert status == 202, body
        mired.until("the report is an event", lambda: cls.origin.sql("SELECT count(*) FROM event") == "1")

    def from_replica(self):
        """Does the page come from the replica? One that has just been caught up with may be passed over."""
        before = len(self.replica.log())
        self.assertEqual(len(self.server.issues("alpha")), 1)
        return "FROM issue" in self.replica.log()[before:]

    def test_pages_are_read_from_the_replica(self):
        mired.until("pages come from the replica", self.from_replica)
        page = self.server.get(PAGE)
        self.assertEqual([group["issues"][0]["totals"]["reports"] for group in page["groups"]], [1])

    def test_a_change_is_seen_at_once(self):
        mired.until("pages come from the replica", self.from_replica)
        self.replica.sql("SELECT pg_wal_replay_pause()")
        self.addCleanup(self.replica.sql, "SELECT pg_wal_replay_resume()")
        for state in ("resolved", "open"):
            status, _, body = self.server.ask("POST", "/api/v1/apps/alpha/triage", None,
                                              {"issues": [self.server.issues("alpha")[0]["id"]], "state": state}, X_Mire_Change="1")
            self.assertEqual(status, 200, body)
            self.assertEqual(self.server.issues("alpha")[0]["state"], state)
            self.assertFalse(self.from_replica())

    def test_without_the_replica(self):
        mired.until("pages come from the replica", self.from_replica)
        os.kill(self.replica.process.pid, signal.SIGSTOP)
        children = pathlib.Path(f"/proc/{self.replica.process.pid}/task/{self.replica.process.pid}/children").read_text().split()
        for child in map(int, children):
            os.kill(child, signal.SIGSTOP)
        self.assertEqual(len(self.server.issues("alpha")), 1)  # by the watch, or by the next one
        for child in map(int, children):
            os.kill(child, signal.SIGCONT)
        os.kill(self.replica.process.pid, signal.SIGCONT)
        mired.until("pages come from the replica again", self.from_replica)
        self.replica.stop()
        self.assertEqual(len(self.server.issues("alpha")), 1)
        self.replica.start()
        mired.until("pages come from the replica again", self.from_replica)


if __name__ == "__main__":
    unittest.main(verbosity=2)
