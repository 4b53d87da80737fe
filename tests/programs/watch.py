"""One program of the table: its runs, what the kernel saw of them and what Mire says."""
import json
import os
import re
import subprocess
import tempfile
import threading
import time
import traceback

from judge import Result, judge_memory, judge_run, unmade
from subject import Subject, read_file, until
from truth import Watch

THRESHOLD_MS = 500
KILL_AFTER_S = 1.0
MOST_DOUBLINGS = 3
SETTINGS = "suppress_ms=0 daily_cap=1000 cpu=0"


class End:
    """A way to end: `how` in words, what is done, and whether in the middle of a hang."""

    def __init__(self, name, act, hung=False, abrupt=False):
        self.name, self.act, self.hung, self.abrupt = name, act, hung, hung or abrupt


def ends(row):
    yield End("quit", row.quit) if row.quit else End("SIGTERM", lambda subject: subject.kill(15))
    yield End(f"signal {row.signal}", lambda subject: subject.kill(row.signal)) if row.quit else End("SIGKILL", lambda subject: subject.kill(9), abrupt=True)
    yield End("killed in a hang", Subject.kill_hung, hung=True)


class Lab:
    """The server that reports go to, and its database."""

    def __init__(self, mired, witness):
        self.mired, self.witness = mired, witness

    def words(self, app, store, more=()):
        key = self.mired.key(app, "ingest")
        return (["--server", self.mired.url, "--key", key, "--app", app, "--app-version", "1", "--store", store, "--threshold", str(THRESHOLD_MS), *more],
                {"MIRE_SETTINGS": SETTINGS})

    def rows(self, select):
        """Rows as dictionaries."""
        return [json.loads(bytes.fromhex(word)) for word in
                self.mired.sql(f"SELECT encode(convert_to(row_to_json(t)::text, 'UTF8'), 'hex') FROM ({select}) t")]

    def worked(self, app):
        """Everything that the app has sent is worked on."""
        return until(lambda: self.mired.sql(f"SELECT count(*) FROM inbox JOIN app USING (app_id) WHERE app.name = '{app}'") == ["0"], 60)

    def reports(self, app):
        rows = self.rows("SELECT encode(body, 'hex') body, encoding, category, reason, caller1, caller2 FROM report JOIN app USING (app_id)"
                         " LEFT JOIN (SELECT slot, day, report_id, i.category, i.reason, caller1, caller2 FROM event JOIN issue i USING (issue_id)) h"
                         f" USING (slot, day, report_id) WHERE app.name = '{app}'")
        return [row | {"document": unpack(bytes.fromhex(row["body"]), row["encoding"])} for row in rows]

    def sessions(self, app):
        return self.rows(f"SELECT hangs, hang_ms, duration_ms FROM session JOIN app USING (app_id) WHERE app.name = '{app}'")


def unpack(body, encoding):
    if encoding == "zstd":
        body = subprocess.run(["zstd", "-dcq"], input=body, stdout=subprocess.PIPE, check=True).stdout
    return json.loads(body)


def verdicts(store, name):
    """How the runs ended of which the store remembers it: words of the file `ends` (sdk/src/store/ends.h)."""
    try:
        with open(os.path.join(store, "ends"), "rb") as file:
            kept = file.read()
    except OSError:
        return []
    lines = kept[8 + int.from_bytes(kept[4:8], "little"):].decode(errors="replace").splitlines()
    return [(words[2], " ".join(words[6:])) for words in map(str.split, lines) if len(words) > 6]


class Run:
    """One run under mire-run and what came of it."""

    def __init__(self):
        self.turns, self.windows, self.reports, self.sessions, self.verdicts, self.problem = [], [], [], [], [], ""
        self.status = self.bare_status = None
        self.watched_from = self.rest = self.killed_at = 0


def prepare(subject, hang):
    if hang.before and hang.name not in subject.prepared:
        subject.prepared.add(hang.name)
        hang.before(subject)
        subject.settle()


def do_hang(subject, hang, run):
    prepare(subject, hang)
    begin = time.monotonic_ns()
    hang.do(subject)
    subject.settle()
    run.windows.append((hang, begin, time.monotonic_ns()))


def kill_in(subject, hang, run, end):
    """The hang goes on in a thread of the driver; the program is ended once it has been busy for a while."""
    prepare(subject, hang)
    begin, subject.held = time.monotonic_ns(), True
    threading.Thread(target=quietly, args=(hang.do, subject), daemon=True).start()
    subject.until_busy(KILL_AFTER_S)
    run.killed_at = time.monotonic_ns()
    end.act(subject)
    run.windows.append((hang, begin, run.killed_at))


def quietly(do, subject):
    try:
        do(subject)
    except Exception:
        pass  # the program is gone


def script(subject, hangs, end, run, rest_s):
    """What happens in a run; the same with Mire and without."""
    time.sleep(rest_s)
    for hang in hangs[:-1] if end.hung else hangs:
        do_hang(subject, hang, run)
    if end.hung:
        kill_in(subject, hangs[-1], run, end)
    else:
        end.act(subject)
    return subject.wait()


def run_bare(row, hangs, end, doublings):
    with tempfile.TemporaryDirectory(prefix="mire-programs-") as folder:
        subject = Subject(row, folder, doublings=doublings)
        try:
            subject.start()
            return script(subject, hangs, end, Run(), 0), outcome(subject)
        finally:
            subject.close()


def outcome(subject):
    """What a program printed, as far as two runs of it agree: the shapes of its lines."""
    if subject.row.where == "tty":
        return None
    text = read_file(subject.path("stdout")) + read_file(subject.path("stderr"))
    return sorted({re.sub(r"\d+", "#", line.replace(subject.folder, "")).strip(".") for line in text.splitlines()})


def run_watched(row, app, hangs, end, lab, rest_s, doublings):
    run = Run()
    with tempfile.TemporaryDirectory(prefix="mire-programs-") as folder:
        os.chmod(folder, 0o755)
        store = os.path.join(folder, "store")
        subject = Subject(row, folder, lab.words(app, store), doublings)
        watch = None
        try:
            subject.start()
            watch = Watch(folder, subject.watched, row.reads)
            run.pid, run.watched_from, run.rest = subject.watched, watch.begin, rest_s
            run.status = script(subject, hangs, end, run, rest_s)
            run.outcome = outcome(subject)
        finally:
            subject.close()
            if watch:
                run.turns = watch.stop()
        if run.killed_at and run.turns and run.turns[-1].open:
            run.turns[-1].end = run.killed_at
        run.verdicts = verdicts(store, row.name)
    lab.worked(app)
    run.reports, run.sessions = lab.reports(app), lab.sessions(app)
    return run


def run_memory(row, lab):
    app = f"{row.name}-memory"
    with tempfile.TemporaryDirectory(prefix="mire-programs-") as folder:
        os.chmod(folder, 0o755)
        words, env = lab.words(app, os.path.join(folder, "store"))
        env = env | {"MIRE_SETTINGS": f"{SETTINGS} footprint_kib={row.memory.footprint_kib}"}
        subject = Subject(row, folder, (words, env))
        try:
            subject.start()
            for _ in range(2):  # the footprint is looked at while the process works
                row.memory.do(subject)
                if until(lambda: any(report["category"] == "memory" for report in lab.reports(app)), 12):
                    break
            quietly(row.quit or (lambda subject: subject.kill(15)), subject)
            subject.wait()
        finally:
            subject.close()
    lab.worked(app)
    return [report for report in lab.reports(app) if report["category"] in ("memory", "foom")]


def try_end(result, number, hangs, end, lab, rest_s, doublings):
    """Runs that end so, with twice the work each time, until the machine takes long enough for it. Returns how often it was doubled."""
    while True:
        run = run_watched(result.row, f"{result.row.name}-{number}-{doublings}", hangs, end, lab, rest_s, doublings)
        run.bare_status, run.bare_outcome = run_bare(result.row, hangs, end, doublings)
        judge_run(result, run, end, THRESHOLD_MS, lab.witness)
        short = list(unmade(run, end, THRESHOLD_MS))
        if not short or doublings == MOST_DOUBLINGS:
            break
        rest_s, doublings = 0, doublings + 1
    result.unmade += len(short)
    result.notes += [f"{end.name}: {hang.name} made no hang: {ms:.0f} ms" for hang, ms in short]
    return doublings


def try_row(row, lab, options):
    """Everything about one program. Returns a Result."""
    result, doublings = Result(row), 0
    for number, end in enumerate(ends(row)):
        if options.quick and number == 1:
            continue
        hangs = {0: row.hangs, 1: row.hangs[:1], 2: row.hangs[1:]}[number]
        try:
            doublings = try_end(result, number, hangs, end, lab, options.rest if number == 0 else 0, doublings)
        except Exception as problem:
            result.broken.append(f"run {number} ({end.name}): {problem!r}" + (traceback.format_exc() if options.verbose else ""))
    if row.memory and not options.quick:
        try:
            judge_memory(result, run_memory(row, lab))
        except Exception as problem:
            result.broken.append(f"memory: {problem!r}")
    return result
