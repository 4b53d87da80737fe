"""A real mired with a database of its own, and what tests do with it."""

import atexit
import contextlib
import glob
import http.client
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import uuid

SOURCE = pathlib.Path(os.environ.get("MIRE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = pathlib.Path(os.environ.get("MIRE_BINARY_DIR", SOURCE / "build/release"))
MIRE = BINARY / "server/mire"


def until(what, seen, seconds=300):
    """What `seen` returns, as soon as that is true."""
    end = time.monotonic() + seconds
    while not (value := seen()):
        assert time.monotonic() < end, f"not so in {seconds} s: {what}"
        time.sleep(0.05)
    return value


def report_id():
    """A UUIDv7 of now."""
    stamp = int(time.time() * 1000)
    return str(uuid.UUID(int=stamp << 80 | 7 << 76 | uuid.uuid4().int & ((1 << 76) - 1) & ~(3 << 62) | 2 << 62))


def report(id, more=0):
    """The smallest report under an id of its own; `more` bytes larger by a member that the server does not know."""
    document = json.loads((SOURCE / "schema/wire/vectors/valid/smallest/report.json").read_text())
    document["id"] = id
    if more:
        document["more"] = "x" * more
    return json.dumps(document).encode()


def scratch(name):
    """A temporary directory that PostgreSQL's user can enter too."""
    folder = tempfile.TemporaryDirectory(prefix=f"mire-{name}-", dir="/tmp")
    pathlib.Path(folder.name).chmod(0o755)
    return folder


def postgres_bin():
    """The folder of the newest PostgreSQL's programs."""
    return pathlib.Path(max(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4])))


def spread_database():
    """A new database on the Citus cluster of MIRE_CITUS_URL, with its tables; it goes when the program ends."""
    script, name = SOURCE / "tests/support/citus.sh", f"test_{uuid.uuid4().hex[:12]}"
    atexit.register(subprocess.run, [script, "drop", name])
    url = subprocess.run([script, "make", name], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run([BINARY / "server/mired", "migrate", "--citus", f"--database-url={url}", "--log-level=error"], check=True)
    return url


class Mired:
    """Runs from here to stop() or kill(), with its files in `folder`; settings are those of `mired serve`."""

    def __init__(self, folder, *settings):
        self.folder, self.data, self.settings = folder, folder / "data", settings
        has_database = any(setting.startswith("--database-url") for setting in settings)
        self.database = spread_database() if os.environ.get("MIRE_CITUS_URL") and not has_database else None
        if self.database:
            self.settings += (f"--database-url={self.database}",)
        self.start()

    def popen(self, words):
        return subprocess.Popen(words)

    def start(self):
        port = self.folder / "port"
        port.unlink(missing_ok=True)
        self.process = self.popen([BINARY / "server/mired", "serve", "--listen=127.0.0.1:0", f"--data-dir={self.data}",
                                   f"--port-file={port}", "--log-level=error", "--local-images=no", *self.settings])
        until("mired starts", lambda: port.exists() or self.process.poll() is not None)
        assert self.process.poll() is None, "mired did not start"
        self.port = int(port.read_text())
        self.url = f"http://127.0.0.1:{self.port}"

    def mire(self, *words, code=0, **env):
        """What the command prints: to standard error, too, where it is to fail."""
        done = subprocess.run([MIRE, *map(str, words)], capture_output=True, text=True, timeout=300,
                              env=os.environ | {"MIRE_SERVER": self.url, "USER": "kim"} | ({"MIRED_DATABASE_URL": self.database} if self.database else {}) | env)
        assert done.returncode == code, (words, done)
        return done.stdout if code == 0 else done.stdout + done.stderr

    def key(self, app, scope):
        return self.mire("key", "create", app, "--scope", scope, "--data-dir", self.data).strip()

    def ask(self, method, path, key=None, body=None, **headers):
        """Status, headers and body of any answer. A body that is no bytes is sent as JSON."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as answer:
            return answer.code, answer.headers, answer.read()

    def get(self, path):
        """An answer of the API that is to be there."""
        status, _, body = self.ask("GET", "/api/v1" + path)
        assert status == 200, (path, status, body)
        return json.loads(body)

    def issues(self, app):
        return [feature for group in self.get(f"/apps/{app}/issues")["groups"] for feature in group["issues"]]

    def link_status(self, id):
        """Status of the permanent link of a report: 302 to its issue, or 404."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)) as connection:
            connection.request("GET", f"/r/{id}")
            return connection.getresponse().status

    def psql(self):
        """The words that begin psql on mired's own database."""
        if not (at := self.database):
            lines = (self.data / "postgres/postmaster.pid").read_text().split("\n")
            at = f"host={lines[4]} port={lines[3]} user=mire dbname=postgres"
        return ["psql", "-qXAt", "-d", at]

    def sql(self, text):
        """Words of what psql prints."""
        done = subprocess.run([*self.psql(), "-c", text], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    @contextlib.contextmanager
    def locked(self, table):
        """Nobody else reads the table meanwhile."""
        with subprocess.Popen(self.psql(), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as psql:
            psql.stdin.write(f"BEGIN; LOCK TABLE {table}; SELECT 'locked';\n")
            psql.stdin.flush()
            assert psql.stdout.readline() == "locked\n"
            try:
                yield
            finally:
                psql.stdin.close()

    def waiting_for(self, table):
        """The number of sessions that wait until the table is unlocked."""
        return int(self.sql(f"SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '{table}'::regclass")[0])

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(300) == 0
