#!/usr/bin/env python3
"""Upgrades: tables of a former version that two new processes find at once, and tables of a later version under processes that still run.
What was acknowledged is there and counted once, the figures of before are the same, and a process that is too old does not start."""

import hashlib
import pathlib
import re
import signal
import subprocess
import sys
import threading
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402

FILES = sorted((mired.SOURCE / "schema/sql").glob("[0-9]*.sql"))
MIRED = mired.BINARY / "server/mired"
# As a later version begins: it adds, and takes nothing away.
EXPAND = """
ALTER TABLE app ADD COLUMN later text NOT NULL DEFAULT '';
ALTER TABLE report ADD COLUMN later integer;
ALTER TABLE event ADD COLUMN later integer;
ALTER TABLE issue ADD COLUMN later text;
ALTER TABLE inbox ADD COLUMN later integer NOT NULL DEFAULT 0;
CREATE TABLE later_table (slot smallint NOT NULL, day date NOT NULL, PRIMARY KEY (slot, day));
CREATE INDEX later_index ON issue (later);
"""


class Http(mired.Mired):
    """Takes reports and questions, and works on none."""

    def popen(self, words):
        return subprocess.Popen(["http" if word == "serve" else word for word in words])


class Upgrade(unittest.TestCase):
    def setUp(self):
        scratch = mired.scratch("upgrade")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        helper = mired.SOURCE / "tests/support/pgtest.sh"
        self.conninfo = subprocess.run([helper, "start", self.folder / "pg"], capture_output=True, text=True, check=True).stdout.strip()
        self.addCleanup(subprocess.run, [helper, "stop", self.folder / "pg"], check=True)
        self.processes = []
        self.addCleanup(self.stop_all)

    def sql(self, text):
        done = subprocess.run(["psql", "-qXAt1", "-v", "ON_ERROR_STOP=1", "-d", self.conninfo, "-f", "-"], input=text, capture_output=True,
                              text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def add(self, number, title, text):
        """A file's statements and its row, in one transaction as mired does it."""
        self.sql(f"{text}; INSERT INTO schema_migration (number, title, checksum) VALUES ({number}, '{title}',"
                 f" decode('{hashlib.blake2b(text.encode(), digest_size=32).hexdigest()}', 'hex'))")

    def start_http(self, name):
        (self.folder / name).mkdir()
        server = Http(self.folder / name, f"--database-url={self.conninfo}")
        self.addCleanup(server.stop)
        return server

    def start_work(self):
        work = subprocess.Popen([MIRED, "work", f"--database-url={self.conninfo}", f"--data-dir={self.folder}/work", "--log-level=error"])
        self.processes.append(work)
        return work

    def stop_all(self):
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(300), 0)
        self.processes = []

    def key(self, server):
        return server.mire("key", "create", "shop", "--database-url", self.conninfo).strip()

    def send(self, server, key):
        one = mired.report_id()
        mired.until("it is taken", lambda: server.ask("POST", "/api/v1/reports", key, mired.report(one))[0] == 202)
        return one

    def await_work(self):
        mired.until("all is worked on", lambda: self.sql("SELECT (SELECT count(*) FROM inbox) + (SELECT count(*) FROM rollup_due)") == ["0"])

    def check_there(self, server, taken):
        """Each is there, and is counted once."""
        for one in taken:
            self.assertEqual(server.link_status(one), 302, one)
        self.assertEqual(server.get("/apps/shop/overview?t=14d")["totals"]["reports"], len(taken))
        self.assertEqual(sum(one["totals"]["reports"] for one in server.issues("shop")), len(taken))

    def test_tables_of_a_former_version(self):
        self.sql("CREATE TABLE schema_migration (number integer CONSTRAINT schema_migration_is_identified_by_its_number PRIMARY KEY,"
                 " title text NOT NULL, checksum bytea NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())")
        for file in FILES[:-1]:
            number, title = file.stem.split("_", 1)
            self.add(int(number), title, file.read_text())
        self.sql("INSERT INTO app (app_id, slug, name) VALUES (41, 'former', 'Of a former version')")
        self.start_work()
        server = self.start_http("first")
        self.assertEqual(self.sql("SELECT count(*) FROM schema_migration"), [str(len(FILES))])
        self.assertIn(("former", "Of a former version"), [(app["slug"], app["name"]) for app in server.get("/apps")["apps"]])
        key = self.key(server)
        taken = [self.send(server, key) for _ in range(5)]
        self.await_work()
        self.check_there(server, taken)

    def figures(self, server):
        """All that pages tell of the app, but for times of the answer itself."""
        told = {}
        for part in ("overview", "issues", "versions", "facets", "rates", "changes", "releases", "symbols", "settings"):
            answer = server.get(f"/apps/shop/{part}" + ("?t=14d" if part in ("overview", "issues", "versions", "rates") else ""))
            answer.pop("range", None)
            told[part] = answer
        return told

    def test_tables_with_data_of_a_former_version(self):
        work = self.start_work()
        server = self.start_http("before")
        key = self.key(server)
        taken = [self.send(server, key) for _ in range(12)]
        self.await_work()
        mired.until("the counts of the door are stored", lambda: sum(one["reports"] for one in server.get("/apps/shop/settings")["door"]) == len(taken))
        before = self.figures(server)
        self.check_there(server, taken)
        server.stop()
        self.stop_all()
        self.assertEqual(work.returncode, 0)

        # As the version left them that had no last file.
        text = FILES[-1].read_text()
        self.assertNotRegex(text, r"(?m)^(ALTER TABLE|INSERT)", "the last file does more than to add tables: undo that here too")
        tables = re.findall(r"(?m)^CREATE TABLE (\w+)", text)
        self.sql(f"DROP TABLE {', '.join(tables)}; DELETE FROM schema_migration WHERE number = {int(FILES[-1].name[:4])}")

        # Two processes of the new version find them at once.
        self.start_work()
        server = self.start_http("after")
        self.assertEqual(self.sql(f"SELECT count(*) FROM pg_class WHERE relname IN ({', '.join(map(repr, tables))})"), [str(len(tables))])
        self.assertEqual(self.figures(server), before)
        taken += [self.send(server, key) for _ in range(3)]
        self.await_work()
        self.check_there(server, taken)

    def test_tables_of_a_later_version(self):
        self.start_work()
        server = self.start_http("first")
        key = self.key(server)
        taken = [self.send(server, key) for _ in range(8)]
        self.await_work()
        before = server.get("/apps/shop/overview?t=14d")["totals"], server.issues("shop")
        self.check_there(server, taken)

        # The later version changes the tables while reports come and are worked on.
        over = threading.Event()

        def load():
            while not over.is_set():
                taken.append(self.send(server, key))

        thread = threading.Thread(target=load)
        had = len(taken)
        thread.start()
        try:
            mired.until("reports come", lambda: len(taken) > had + 3)
            self.add(9000, "later", EXPAND)
            upgraded = len(taken)
            mired.until("reports come still", lambda: len(taken) > upgraded + 8)
        finally:
            over.set()
            thread.join()
        self.await_work()
        self.assertEqual(self.sql("SELECT count(*) FROM dead_letter"), ["0"])
        self.check_there(server, taken)
        self.assertEqual(len(server.issues("shop")), len(before[1]))

        # This version does not start on those tables, and says why. The doctor says it, too.
        for role in ("http", "work", "serve", "migrate"):
            done = subprocess.run([MIRED, role, "--listen=127.0.0.1:0", f"--database-url={self.conninfo}", f"--data-dir={self.folder}/late"],
                                  capture_output=True, text=True, timeout=300)
            self.assertNotEqual(done.returncode, 0, role)
            self.assertIn("migrate.too_new database=9000", done.stderr)
            self.assertIn("later version of mired", done.stderr)
        done = subprocess.run([MIRED, "doctor", f"--database-url={self.conninfo}", f"--data-dir={self.folder}"], capture_output=True, text=True)
        self.assertRegex(done.stdout, r"bad +tables: they are of a later version of mired\n +next: .*\n")
        self.send(server, key)  # processes that run go on


if __name__ == "__main__":
    unittest.main(warnings="ignore")
