#!/usr/bin/python3
"""The network matrix: an app that links libmire, a real mired on a real PostgreSQL, and a proxy that fails between them.

Each case has reports made and ends when the app has nothing left that it could send. Then two things are asked:

    stored once   every report that was made, and was not dropped for a reason, is in the database exactly once, and counted once
    ledger        what the app says it sent, kept and dropped is what was made; what it dropped, by reason, is what the
                  reports that the server has tell, and what the store has not told yet

`network.py` runs all cases and prints the table; `network.py NAME...` those.
"""
import collections
import email.utils
import json
import pathlib
import ssl
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import faults  # noqa: E402
from mired import BINARY, Mired, scratch, until  # noqa: E402

APP = BINARY / "tests/integration/delivery_app"
PATIENCE_S = 60
KEPT = "what the server asked for is kept"
CASES = []


def case(run):
    CASES.append(run)
    return run


class App:
    """One run of the app."""

    def __init__(self, trial, **settings):
        words = {"app": trial.name, "url": trial.proxy.url, "key": trial.key, "store": trial.store} | settings
        self.log = open(trial.folder / "log", "a+")
        self.process = subprocess.Popen([APP, *[f"{name}={value}" for name, value in words.items()]], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log, text=True, bufsize=1)
        self.started = self.process.stdout.readline().strip()
        self.trial = trial

    def say(self, word, value):
        self.process.stdin.write(f"{word} {value}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def report(self, count):
        answer = self.say("report", count)
        assert answer == "MIRE_OK", answer
        self.trial.made += count
        self.say("flush", 0)

    def flush(self, patience_ms=1000 * PATIENCE_S):
        return self.say("flush", patience_ms)

    def stop(self):
        out, _ = self.process.communicate("stop 0\n", timeout=PATIENCE_S)
        self.log.close()
        words = out.split()
        assert words[0] == "MIRE_OK", out
        counts = [int(word) for word in words[1:]]
        self.trial.sent += counts[0]
        self.trial.kept = counts[1]
        self.trial.dropped += counts[2]
        return counts

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.log.close()


def unpack(body):
    return json.loads(subprocess.run(["zstd", "-dcq"], input=body, stdout=subprocess.PIPE, check=True).stdout)


def reports(bodies):
    return sum(body["kind"] != "session" for body in bodies)


class Trial:
    """One case: an app of its own at the server, a store and a proxy of its own."""

    def __init__(self, server, folder, name, context=None):
        self.server, self.folder, self.name = server, folder, name
        folder.mkdir()
        self.store = folder / "store"
        self.key = server.key(name, "ingest")
        self.proxy = faults.Proxy(server.port, context)
        self.made = self.sent = self.kept = self.dropped = 0

    def app(self, **settings):
        app = App(self, **settings)
        assert app.started == "MIRE_OK", app.started
        return app

    def faults(self, *list_of_faults):
        self.proxy.faults += list_of_faults

    def logged(self, text):
        """Waits until the app, or the library, has said so."""
        until(f"the log says {text}", lambda: text in (self.folder / "log").read_text())

    def bodies(self):
        """The records that the server has."""
        return [unpack(bytes.fromhex(row)) for row in
                self.server.sql(f"SELECT encode(r.body, 'hex') FROM report r JOIN app a ON a.app_id = r.app_id WHERE a.slug = '{self.name}'")]

    def counted(self):
        """How many reports the counters have, once nothing waits to be worked on."""
        app = f"(SELECT app_id FROM app WHERE slug = '{self.name}')"
        waiting = f"SELECT count(*) FROM inbox i JOIN report r USING (slot, day, report_id) WHERE r.app_id = {app}"
        until("the reports are worked on", lambda: self.server.sql(waiting) == ["0"])
        return int(self.server.sql(f"SELECT coalesce(sum(reports), 0)::int8 FROM version_hour WHERE app_id = {app}")[0])

    def ledger(self):
        """Losses by reason that no report tells yet, as the store has them."""
        # The file is text behind a frame of a few bytes.
        text = (self.store / "drops").read_bytes().decode("ascii", "ignore") if (self.store / "drops").exists() else ""
        found = collections.Counter()
        for line in text.split("\n"):
            words = line.split()
            if len(words) >= 2 and words[-1].isdigit():
                found[words[-2]] += int(words[-1])
        return +found

    def judge(self, reports_left=0, **dropped):
        """(stored once, ledger agrees), and why not. Session records, one a run at most, are told from reports."""
        lost = collections.Counter(dropped)
        bodies = self.bodies()
        waiting = [unpack(path.read_bytes()) for path in (self.store / "out").glob("*.report")]
        ids = {body["id"] for body in bodies}
        stored, left = reports(bodies), reports(waiting)
        sessions = len(bodies) - stored + len(waiting) - left
        told = sum((collections.Counter(body.get("drops", {})) for body in bodies + waiting), collections.Counter())
        counted = self.counted()
        once = (len(bodies) == len(ids) and stored == counted == self.made - lost.total() - left and left == reports_left and
                not ids & {body["id"] for body in waiting})
        agrees = (self.sent == len(ids) and self.kept == len(waiting) and self.dropped == lost.total() and
                  self.sent + self.kept + self.dropped == self.made + sessions and told + self.ledger() == lost)
        why = (f"made {self.made} and {sessions} session records; stored {len(bodies)} as {len(ids)}, {counted} counted, "
               f"{len(waiting)} waiting; the app says sent {self.sent}, kept {self.kept}, dropped {self.dropped}; "
               f"lost {dict(lost)}, told {dict(told)}, not told yet {dict(self.ledger())}")
        return once, agrees, why

    def close(self):
        self.proxy.close()


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def delivers(trial, *list_of_faults, count=3, **settings):
    """Reports are made, what fails is tried again, and all of it arrives in one run."""
    app = trial.app(**settings)
    trial.faults(*list_of_faults)
    app.report(count)
    expect(app.flush() == "MIRE_OK", "all of it is sent")
    app.stop()
    expect(not trial.proxy.faults, "every fault has happened")
    return trial.judge()


# ---- what is lost on the way ----

@case
def nothing_fails(trial):
    app = trial.app(first=1000, limit=60000)
    app.say("network", 2)
    app.report(5)
    before = trial.proxy.connections
    app.say("network", 0)
    expect(app.flush() == "MIRE_OK", "all of it is sent")
    app.stop()
    expect(len({number for _, number, _ in trial.proxy.posts}) == 1 and trial.proxy.connections - before <= 1,
           "what waits goes over one connection")
    expect(len(trial.proxy.posts) == 5, "each report is sent once")
    return trial.judge()


def once_and_again(fault):
    """It happens to the first two reports that come."""
    def run(trial):
        return delivers(trial, fault, fault)
    run.__name__ = fault.__name__.replace(" ", "_")
    return case(run)


for one in (faults.ack_lost, faults.half_an_ack, faults.reset_mid_body, faults.reset_after_the_body, faults.slow_body, faults.slow_answer):
    once_and_again(one)


@case
def ack_lost_and_the_app_killed(trial):
    """SIGKILL between the server's commit and the answer: the next start sends it again."""
    app = trial.app()
    held = threading.Event()

    def lost_with_the_app(exchange):
        exchange.forward()
        held.set()
        until("the app is killed", lambda: app.process.poll() is not None)
        raise faults.Gone

    trial.faults(lost_with_the_app)
    app.report(1)
    expect(held.wait(PATIENCE_S), "the report reaches the server")
    app.kill()
    app = trial.app()
    app.report(1)
    expect(app.flush() == "MIRE_OK", "all of it is sent")
    app.stop()
    return trial.judge()


def killed(trial, share):
    """kill -9 of mired, and of its cluster, when it has that share of a report in its hands; it comes back on another port."""
    def fault(exchange):
        with exchange.upstream() as server:
            server.sendall(exchange.read_body()[:int(exchange.length * share)])
            trial.server.kill()
        trial.server.start()
        trial.proxy.port = trial.server.port
        raise faults.Gone
    return fault


@case
def server_killed_mid_body(trial):
    return delivers(trial, killed(trial, 0.5))


@case
def server_killed_before_its_answer(trial):
    """Whether the report was committed nobody knows."""
    return delivers(trial, killed(trial, 1))


@case
def server_away(trial):
    """Nobody listens for a while, over a restart of the app."""
    port, trial.proxy.port = trial.proxy.port, 1
    app = trial.app()
    app.report(2)
    until("it is tried again", lambda: len(trial.proxy.posts) >= 3)
    app.stop()
    trial.proxy.port = port
    expect(trial.judge(reports_left=2)[1], "kept is said")
    app = trial.app()
    expect(app.flush() == "MIRE_OK", "all of it is sent")
    app.stop()
    return trial.judge()


# ---- what the server says ----

for code in (408, 425, 429, 500, 501, 502, 503, 504):
    once_and_again(faults.answers(code))


def refused(code):
    def run(trial):
        """Dropped, and told by the next report."""
        app = trial.app()
        trial.faults(faults.answers(code))
        app.report(1)
        expect(app.flush() == "MIRE_OK", "it is dropped")
        app.report(1)
        expect(app.flush() == "MIRE_OK", "the next is sent")
        app.stop()
        return trial.judge(refused=1)
    run.__name__ = f"status_{code}"
    return case(run)


for code in (400, 413, 422):
    refused(code)


def gap(trial):
    """Seconds between the first two tries."""
    return trial.proxy.posts[1][0] - trial.proxy.posts[0][0]


@case
def retry_after_seconds(trial):
    result = delivers(trial, faults.answers(429, ("Retry-After", "1")))
    expect(gap(trial) >= 1, "it is left alone for a second")
    return result


@case
def retry_after_date(trial):
    """By the server's clock, a year off the device's."""
    def date(later):
        return lambda: email.utils.formatdate(time.time() + 365 * 86400 + later, usegmt=True)

    result = delivers(trial, faults.answers(503, ("Date", date(0)), ("Retry-After", date(2))))
    expect(gap(trial) >= 1.9, "it is left alone for two seconds")
    return result


@case
def retry_after_nonsense(trial):
    result = delivers(trial, *[faults.answers(429, ("Retry-After", text)) for text in
                               ("soon", "-5", "1.5", "Sun, 99 Nov 2026 08:49:37 GMT", "9" * 60 + "x")])
    expect(not (trial.store / "after").exists(), "nothing of it is kept")
    return result


@case
def retry_after_over_a_restart(trial):
    app = trial.app()
    trial.faults(faults.answers(503, ("Retry-After", "3")))
    app.report(1)
    until(KEPT, lambda: (trial.store / "after").exists())
    app.stop()
    app = trial.app()
    expect(app.flush() == "MIRE_OK", "it is sent in the end")
    app.stop()
    expect(gap(trial) >= 3, "the next start keeps to it")
    return trial.judge()


@case
def clock_jumps(trial):
    """A year back, then ten ahead, while the server is to be left alone: the wait is what it was."""
    app = trial.app()
    trial.faults(faults.answers(503, ("Retry-After", "2")))
    app.report(1)
    until(KEPT, lambda: (trial.store / "after").exists())
    app.say("clock", -365 * 86400 * 1000)
    app.report(1)
    app.say("clock", 3650 * 86400 * 1000)
    app.report(1)
    expect(app.flush() == "MIRE_OK", "all of it is sent")
    app.stop()
    expect(gap(trial) >= 2, "it is left alone for two seconds")
    return trial.judge()


@case
def clock_jumps_over_a_restart(trial):
    """The device starts again and believes it is a year ago: at most the wait that was asked for is left."""
    app = trial.app()
    trial.faults(faults.answers(503, ("Retry-After", "2")))
    app.report(1)
    until(KEPT, lambda: (trial.store / "after").exists())
    app.stop()
    app = trial.app()
    app.say("clock", -365 * 86400 * 1000)
    app.report(1)
    expect(app.flush() == "MIRE_OK", "all of it is sent")
    app.stop()
    return trial.judge()


# ---- who answers ----

@case
def captive_portal(trial):
    """A 200 that is not mired's, and a redirect: no report counts as sent."""
    return delivers(trial, faults.portal, faults.portal_elsewhere, faults.portal)


@case
def name_not_found(trial):
    app = trial.app(url="https://mire.invalid")
    app.report(2)
    trial.logged("cannot send")
    app.stop()
    app = trial.app()
    expect(app.flush() == "MIRE_OK", "all of it is sent")
    app.stop()
    return trial.judge()


class Certificate:
    """Self-signed, for 127.0.0.1."""

    def __init__(self, folder, name):
        self.file, self.key = folder / f"{name}.pem", folder / f"{name}.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", self.key, "-out", self.file],
                       check=True, capture_output=True)
        public = subprocess.run(f"openssl x509 -in {self.file} -pubkey -noout | openssl pkey -pubin -outform der | "
                                "openssl dgst -sha256 -binary | openssl base64", shell=True, check=True, capture_output=True, text=True)
        self.pin = "sha256//" + public.stdout.strip()

    def context(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key)
        return context


def behind_tls(trial, certificate):
    trial.proxy.close()
    trial.proxy = faults.Proxy(trial.server.port, certificate.context())


def over_tls(trial, first, then):
    """With `first` nothing arrives; with `then` all does."""
    app = trial.app(**first)
    app.report(2)
    trial.logged("cannot send")
    app.stop()
    expect(not trial.proxy.posts and not trial.proxy.others, "nothing is asked of a server that is not trusted")
    app = trial.app(**then)
    app.report(1)
    expect(app.flush() == "MIRE_OK", "all of it is sent")
    app.stop()
    return trial.judge()


@case
def tls_wrong_certificate(trial):
    mine, other = Certificate(trial.folder, "mine"), Certificate(trial.folder, "other")
    behind_tls(trial, mine)
    return over_tls(trial, {"ca": other.file}, {"ca": mine.file})


@case
def tls_wrong_pin(trial):
    mine, other = Certificate(trial.folder, "mine"), Certificate(trial.folder, "other")
    behind_tls(trial, mine)
    return over_tls(trial, {"ca": mine.file, "pins": other.pin}, {"ca": mine.file, "pins": f"{other.pin};{mine.pin}"})


@case
def tls_cut_short(trial):
    """Connections are closed while both sides still agree on keys."""
    mine = Certificate(trial.folder, "mine")
    behind_tls(trial, mine)
    trial.proxy.cut = 3
    result = delivers(trial, ca=mine.file)
    expect(trial.proxy.cut == 0, "it was cut")
    return result


@case
def plain_http_over_a_network(trial):
    """Refused at the start."""
    app = App(trial, url="http://192.0.2.1:7117")
    expect(app.started == "MIRE_E_ARG", app.started)
    app.kill()
    return trial.judge()


# ---- what the app and its user say ----

@case
def no_consent_yet(trial):
    app = trial.app(consent=1)
    app.report(2)
    expect(app.flush(300) == "MIRE_E_TIMEOUT", "it waits")
    expect(not trial.proxy.posts and not trial.proxy.others, "nothing leaves")
    app.stop()
    app = trial.app(consent=1)
    app.report(1)
    expect(app.say("consent", 1) == "MIRE_OK", "the user agrees")
    expect(app.flush() == "MIRE_OK", "all of it is sent")
    app.stop()
    app = trial.app(consent=1)
    app.report(1)
    expect(app.flush() == "MIRE_OK", "the next start remembers")
    app.stop()
    return trial.judge()


@case
def consent_refused(trial):
    """What waits is deleted and counted; so is what comes later. When the user agrees after all, the next report tells."""
    app = trial.app(consent=1)
    app.report(2)
    app.say("consent", 2)
    expect(app.flush() == "MIRE_OK", "nothing waits any more")
    app.report(1)
    expect(app.flush() == "MIRE_OK", "nor does a later one")
    app.stop()
    expect(not trial.proxy.posts and not trial.proxy.others, "nothing leaves")
    app = trial.app(consent=1)
    app.say("consent", 1)
    app.report(1)
    expect(app.flush() == "MIRE_OK", "it is sent")
    app.stop()
    return trial.judge(consent=3)


@case
def no_network(trial):
    app = trial.app()
    until("the rollout is asked for", lambda: trial.proxy.others > 0)
    app.say("network", 2)
    app.report(2)
    expect(app.flush(300) == "MIRE_E_TIMEOUT", "it waits")
    expect(not trial.proxy.posts, "nothing is tried")
    app.say("network", 0)
    expect(app.flush() == "MIRE_OK", "all of it is sent")
    app.stop()
    return trial.judge()


@case
def days_bytes_spent(trial):
    """Bytes for some reports a day: the rest waits, over a restart, until the app's clock says tomorrow."""
    app = trial.app(daily=65536)
    trial.faults(*[faults.answers(500)] * 200)  # failures cost as well
    app.report(40)
    until("the day's bytes are spent", lambda: spent(trial) > 60000)
    trial.proxy.faults.clear()
    app.flush(500)
    app.stop()
    sent = len(trial.proxy.posts)
    app = trial.app(daily=65536)
    app.flush(500)
    app.stop()
    expect(trial.kept > 0, "some wait")
    expect(len(trial.proxy.posts) - sent <= 2, "the next start keeps to it")
    app = trial.app(daily=0)
    expect(app.flush() == "MIRE_OK", "all of it is sent")
    app.stop()
    return trial.judge()


def spent(trial):
    file = trial.store / "spent"
    words = file.read_bytes().decode("ascii", "ignore").split() if file.exists() else []
    return int(words[-1]) if words else 0


@case
def before_send_says_no(trial):
    app = trial.app(filter="delivery_app")
    app.report(2)
    expect(app.flush() == "MIRE_OK", "nothing waits any more")
    counts = app.stop()
    expect(counts[-1] == 2 and not trial.proxy.posts, "the app has seen both, the server none")
    app = trial.app(filter="no such word")
    app.report(1)
    expect(app.flush() == "MIRE_OK", "it is sent")
    app.stop()
    return trial.judge(filtered=2)


@case
def transport_of_the_app(trial):
    """It answers 202 for a report that it cannot know: that is no ack. libcurl then sends what waits."""
    app = trial.app(transport=202)
    app.report(2)
    trial.logged(f"GET {trial.proxy.url}/api/v1/rollout")
    trial.logged(f"POST {trial.proxy.url}/api/v1/reports")
    trial.logged("names no report")
    app.stop()
    app = trial.app()
    expect(app.flush() == "MIRE_OK", "all of it is sent")
    app.stop()
    return trial.judge()


@case
def heap_of_the_app(trial):
    app = trial.app(heap=1)
    trial.faults(faults.ack_lost)
    app.report(2)
    expect(app.flush() == "MIRE_OK", "all of it is sent")
    counts = app.stop()
    expect(counts[3:] == [0, 1], f"every block of the app's was given back: {counts}")
    return trial.judge()


def run(server, folder, chosen):
    """Returns how many failed."""
    failed = 0
    print(f"{'case':34} {'stored once':12} {'ledger agrees':14} {'POSTs':>5} {'s':>6}")
    for number, one in enumerate(chosen):
        trial = Trial(server, folder / str(number), one.__name__.replace("_", "-"))
        begin = time.monotonic()
        try:
            once, agrees, why = one(trial)
        except (AssertionError, OSError, subprocess.SubprocessError) as fault:
            once, agrees, why = False, False, f"{type(fault).__name__}: {fault}"
        said = {True: "yes", False: "NO"}
        print(f"{one.__name__:34} {said[once]:12} {said[agrees]:14} {len(trial.proxy.posts):5} {time.monotonic() - begin:6.1f}", flush=True)
        if not (once and agrees):
            failed += 1
            print("    " + why)
            print("    " + (trial.folder / "log").read_text().replace("\n", "\n    ") if (trial.folder / "log").exists() else "")
        trial.close()
    return failed


def main():
    chosen = [one for one in CASES if len(sys.argv) == 1 or one.__name__ in sys.argv[1:]]
    with scratch("network") as name:
        folder = pathlib.Path(name)
        server = Mired(folder)
        try:
            failed = run(server, folder, chosen)
        finally:
            server.stop()
    print(f"{len(chosen) - failed} of {len(chosen)} cases hold")
    sys.exit(failed > 0 or not chosen)


if __name__ == "__main__":
    main()
