#!/usr/bin/env python3
"""The commands of docs/backup.md on a real mired with its private PostgreSQL: a dump that is restored elsewhere, a base backup that is
rolled forward to an instant before an accident, and a standby that takes over. Each time the figures are those of before, the key of a
device still opens, and no acknowledged report is missing."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402

VECTORS = mired.SOURCE / "schema/wire/vectors/valid"


class Backup(unittest.TestCase):
    def setUp(self):
        scratch = mired.scratch("backup")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "first").mkdir()
        self.server = mired.Mired(self.folder / "first")
        self.addCleanup(lambda: self.server and self.server.stop())
        self.key, self.taken = self.server.key("shop", "ingest"), []
        self.send(12)

    def send(self, count, server=None):
        server = server or self.server
        for _ in range(count):
            one = mired.report_id()
            document = json.loads((VECTORS / ("every-field", "smallest", "deep-stack")[len(self.taken) % 3] / "report.json").read_text())
            document["id"] = one
            mired.until("it is taken", lambda: server.ask("POST", "/api/v1/reports", self.key, json.dumps(document).encode())[0] == 202)
            self.taken.append(one)
        mired.until("all is worked on", lambda: server.get("/apps/shop/overview?t=14d")["waiting"] == 0)
        if server is self.server:
            mired.until("it is in the rollups", lambda: server.sql("SELECT count(*) FROM rollup_due") == ["0"])

    def figures(self, server):
        overview = server.get("/apps/shop/overview?t=14d")
        issues = [(one["id"], one["totals"]) for one in server.issues("shop")]
        return overview["totals"], sorted(issues, key=str), {name: all for name, all in server.get("/apps/shop/facets?t=14d").items() if name != "range"}

    def check_same(self, server, figures, taken):
        """The other server has the figures and all these reports, and takes one more."""
        self.assertEqual(self.figures(server), figures)
        for one in taken:
            self.assertEqual(server.link_status(one), 302, one)
        self.send(1, server)

    # --- programs of PostgreSQL, as the user whom its files belong to ---

    def run_pg(self, name, *words):
        owner = (self.server_data / "postgres").stat()
        user = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": [], "cwd": "/"} if os.geteuid() == 0 else {}
        done = subprocess.run([mired.postgres_bin() / name, *map(str, words)], capture_output=True, text=True, timeout=300, **user)
        self.assertEqual(done.returncode, 0, (name, words, done.stderr))
        return done.stdout.strip()

    @property
    def server_data(self):
        return self.folder / "first/data"

    @property
    def run_dir(self):
        return (self.server_data / "postgres/postmaster.pid").read_text().split("\n")[4]

    def own_folder(self, name):
        """A folder that PostgreSQL's user may write to."""
        made, owner = self.folder / name, (self.server_data / "postgres").stat()
        made.mkdir()
        os.chown(made, owner.st_uid, owner.st_gid)
        made.chmod(0o700)
        return made

    def start_pg(self, data):
        """A PostgreSQL by itself; its URL."""
        log = data.parent / f"{data.name}.log"
        log.touch()
        os.chown(log, data.stat().st_uid, data.stat().st_gid)
        self.run_pg("pg_ctl", "-D", data, "-w", "-t", 250, "-l", log, "-o", f"-c listen_addresses= -k {data}", "start")
        self.addCleanup(self.stop_pg, data)
        return f"postgresql://mire@/postgres?host={data}"

    def stop_pg(self, data):
        if (data / "postmaster.pid").exists():
            self.run_pg("pg_ctl", "-D", data, "-w", "-m", "fast", "stop")

    def second(self, *settings):
        (self.folder / "second").mkdir(exist_ok=True)
        server = mired.Mired(self.folder / "second", *settings)
        self.addCleanup(server.stop)
        return server

    # --- the tests ---

    def test_a_dump(self):
        figures = self.figures(self.server)
        dump = self.own_folder("dump") / "mire.dump"
        self.run_pg("pg_dump", "-h", self.run_dir, "-U", "mire", "-Fc", "-f", dump, "postgres")
        data = self.own_folder("other")
        self.run_pg("initdb", "-D", data, "-U", "mire", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N")
        url = self.start_pg(data)
        self.run_pg("pg_restore", "--no-owner", "--exit-on-error", "-d", url, dump)
        self.check_same(self.second(f"--database-url={url}"), figures, self.taken)

    def test_an_instant_before_an_accident(self):
        archive, base = self.own_folder("archive"), self.own_folder("base")
        self.server.sql("ALTER SYSTEM SET archive_mode = on")
        self.server.sql(f"ALTER SYSTEM SET archive_command = 'cp %p {archive}/%f'")
        self.server.stop()
        self.server.start()
        self.run_pg("pg_basebackup", "-h", self.run_dir, "-U", "mire", "-D", base)
        self.send(6)
        figures, taken = self.figures(self.server), list(self.taken)
        instant = " ".join(self.server.sql("SELECT clock_timestamp()"))
        self.server.sql("DELETE FROM event; DELETE FROM issue; SELECT pg_switch_wal()")  # the accident
        last = self.server.sql("SELECT pg_walfile_name(pg_current_wal_lsn())")[0]
        self.assertNotEqual(self.figures(self.server), figures)

        def is_archived():
            self.server.sql("SELECT pg_switch_wal()")
            return any(one.name >= last for one in archive.iterdir())

        mired.until("the log is archived", is_archived)
        with (base / "postgresql.auto.conf").open("a") as out:
            out.write(f"restore_command = 'cp {archive}/%f %p'\nrecovery_target_time = '{instant}'\nrecovery_target_action = promote\narchive_mode = off\n")
        (base / "recovery.signal").touch()
        os.chown(base / "recovery.signal", base.stat().st_uid, base.stat().st_gid)
        url = self.start_pg(base)
        mired.until("it is restored", lambda: self.run_pg("psql", "-XAtc", "SELECT pg_is_in_recovery()", url) == "f")
        self.stop_pg(base)
        # mired's own PostgreSQL is the restored one from now on.
        (self.folder / "second/data").mkdir(parents=True)
        shutil.move(base, self.folder / "second/data/postgres")
        self.check_same(self.second(), figures, taken)

    def test_a_standby_takes_over(self):
        standby = self.own_folder("standby")
        self.run_pg("pg_basebackup", "-h", self.run_dir, "-U", "mire", "-D", standby, "-R", "-X", "stream")
        url = self.start_pg(standby)
        self.send(6)
        figures, taken = self.figures(self.server), list(self.taken)
        mired.until("the standby has it all", lambda: self.server.sql(
            "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()") == ["1"])
        self.server.kill()  # with its PostgreSQL
        self.server = None
        self.run_pg("pg_ctl", "-D", standby, "-w", "promote")
        self.check_same(self.second(f"--database-url={url}"), figures, taken)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
