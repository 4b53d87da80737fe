"""Which hangs are made, from a seed, and what came of them: the program's own account and Mire's reports, side by side."""
import bisect
import glob
import json
import os
import random
import shutil
import subprocess
import tempfile

BINARY = os.environ["MIRE_BINARY_DIR"]
FOLDER = os.path.join(BINARY, "tests/corpus")
RULES = os.path.join(os.path.dirname(__file__), "hanger.rules")  # what the program's own team would say of it
MS = 1_000_000
LONG_MS = 250  # a turn of that length is counted, whatever the threshold
LONG_AGO_NS = 20 * MS  # a report belongs to the turn that it begins with, less than that apart

LOOPS = ("epoll", "glib", "uv")
CHURNS = ("none", "malloc", "dlopen", "fork", "exit", "malloc+dlopen+fork+exit")
CAUSES = ("cpu", "file", "sleep", "mutex", "condvar", "pagein", "mixed")
PLACES = ("middle", "leaf")
WAYS = ("run", "linked")
THREADS = ("main", "name", "call")


class Plan:
    """One process: its loop, its other threads, and its steps. No two steps have one stack, so each is a hang of its own."""

    def __init__(self, way, loop, churn, dice, threshold_ms):
        self.way, self.loop, self.churn, self.threshold_ms = way, loop, churn, threshold_ms
        # What mixed calls does most of its work in one function, which would be found instead of a planted leaf.
        kinds = [(cause, place) for cause in CAUSES for place in PLACES if (cause, place) != ("mixed", "leaf")]
        dice.shuffle(kinds)
        self.steps = [(cause, place, dice.randrange(8), self.length(dice), "running") for cause, place in kinds]
        for place in ("idle", "busy", "hang"):
            self.steps.insert(dice.randrange(1, len(self.steps)), ("stop", place, 0, threshold_ms * 2, "running"))
        if dice.random() < 0.5:  # half of the programs end by being killed
            self.steps.append(("kill", dice.choice(PLACES), dice.randrange(8), threshold_ms * dice.choice((2, 3)), "running"))
        self.thread = "main"
        if way == "linked":
            self.steps = [step[:4] + (dice.choice(("running", "background")),) for step in self.steps]
        if dice.random() < 0.5:
            self.steps[0] = self.steps[0][:4] + ("launch",)
        if way == "linked":
            self.move(dice.choice(("main",) + THREADS))

    def move(self, thread):
        """Run the loop on that thread. Only the main thread has a launch."""
        self.thread = thread
        if thread != "main":
            self.steps[0] = self.steps[0][:4] + ("running",)

    def length(self, dice):
        """From far below the threshold to far over it, most of them close."""
        share, more = dice.choice([(0.5, 0), (0.9, 0), (1, -20), (1, -8), (1, 8), (1, 20), (1.1, 0), (1.3, 0), (1.7, 0), (2.5, 0), (5, 0)])
        return round(self.threshold_ms * share) + more

    def __str__(self):
        return f"{self.way} {self.loop} {self.thread} {self.churn} " + ",".join("/".join(map(str, step)) for step in self.steps)


def plans(seed, rounds, threshold_ms, ways=WAYS):
    dice = random.Random(seed)
    return [Plan(way, loop, churn, dice, threshold_ms)
            for _ in range(rounds) for way in ways for loop in LOOPS for churn in CHURNS]


def few(plans):
    """Every loop, every kind of other threads, both ways and every thread at least once, half the steps of each."""
    some = plans[:: len(CHURNS) + 1]
    for plan, thread in zip((plan for plan in some if plan.way == "linked"), THREADS):
        plan.move(thread)
    for plan in some:
        plan.steps = plan.steps[: len(plan.steps) // 2] + [step for step in plan.steps if step[0] == "kill"]
    return some


class Turn:
    """A turn of the program's loop, as the program tells it."""

    def __init__(self, plan, words):
        step, self.begin, self.end, self.waited, self.owner, self.cut = map(int, words)
        self.plan = plan
        self.cause, self.place, self.number, _, self.phase = plan.steps[step] if step >= 0 else ("unplanned", "", 0, 0, "running")
        self.planted = f"planted_{self.place}_{self.number}"
        self.scene = f"planted_{'timer' if plan.loop == 'uv' and self.phase != 'launch' else 'scene'}_{step % 8}"
        self.report = None

    @property
    def ms(self):
        return (self.end - self.begin) / MS


class Functions:
    """A program's functions by address."""

    def __init__(self, path, *options):
        rows = [line.split() for line in subprocess.check_output(["nm", "-n", "--defined-only", *options, path], text=True).splitlines()]
        rows = [(int(row[0], 16), row[2]) for row in rows if row[1] in "tTwW"]
        self.addresses, self.names = [row[0] for row in rows], [row[1] for row in rows]

    def name(self, address):
        at = bisect.bisect_right(self.addresses, address) - 1
        return self.names[at].partition(".")[0] if at >= 0 else "?"  # f.cold is a part of f


def unpack(path):
    return json.loads(subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout)


class Sessions:
    """What a store's session records say, beside the reports and losses that they are to agree with."""
    HELD = ("short", "suppressed", "daily")
    LOST = ("write", "broken", "big")

    def __init__(self, store):
        papers = [unpack(path) for path in sorted(glob.glob(store + "/out/*.report"))]
        self.records = [paper["session"] for paper in papers if paper["kind"] == "session"]
        self.pids = {paper["process"]["pid"] for paper in papers if paper["kind"] == "session"}
        self.reports = [paper for paper in papers if paper["kind"] == "event" and paper["process"]["pid"] in self.pids and
                        paper["event"].get("trigger", "busy") in ("busy", "unanswered")]
        self.drops = {reason: sum(paper.get("drops", {}).get(reason, 0) for paper in papers) for reason in self.HELD + self.LOST}
        for line in kept(os.path.join(store, "drops")).splitlines():  # what no record tells yet
            reason, _, count = line.partition(" ")
            if reason in self.drops:
                self.drops[reason] += int(count)

    def hangs(self):
        return sum(row["count"] for record in self.records for row in record["hangs"].values())

    def fault(self, sessions):
        """Hangs of the sessions are those reported, held back and lost; "" if all is well."""
        told = len(self.reports) + sum(self.drops.values())
        if len(self.records) != sessions or self.hangs() != told:
            return f"{len(self.records)} sessions with {self.hangs()} hangs; {sessions} runs with {len(self.reports)} reports and {self.drops}"
        if self.hangs() and not all(record["loop"] for record in self.records):
            return "hangs without a loop"
        return ""


def kept(path):
    """A small file of the store, without its frame (sdk/src/store/frame.h)."""
    if not os.path.exists(path):
        return ""
    with open(path, "rb") as file:
        data = file.read()
    return data[8 + int.from_bytes(data[4:8], "little"):].decode()


def want_sessions(store):
    """As a server would: the rollout document that asks for session records. Of the store's first version, without a frame."""
    os.makedirs(store, mode=0o700)
    with open(os.path.join(store, "rollout"), "w") as file:
        file.write('\n{"mire_rollout":1,"version":1,"plugins":{"session":{"ppm":1000000}}}')


class Report:
    def __init__(self, path, functions):
        self.size = os.path.getsize(path)
        self.json = unpack(path)
        self.functions = functions
        self.hang = self.json["event"]
        self.begin, self.ms = self.hang["begin_ns"], self.hang["duration_ms"]
        self.caller1, self.caller2 = self.find_callers(path)

    @staticmethod
    def find_callers(path):
        """The server's verdict: its own code, which `mire show` runs."""
        shown = subprocess.run([os.path.join(BINARY, "server/mire"), "show", "--rules", RULES, path], stdout=subprocess.PIPE, text=True).stdout
        lines = dict(line.split()[:2] for line in shown.splitlines() if line.startswith("Caller"))
        return lines.get("Caller1", ""), lines.get("Caller2", "")

    def stack(self, node):
        """Functions of the program above a node, innermost first."""
        frames, nodes = self.json["frames"], self.json["nodes"]
        while node > 0:
            frame = nodes["frame"][node - 1]
            image = frames["image"][frame]
            if image >= 0 and os.path.basename(self.json["images"][image]["name"]).startswith("hanger"):
                yield self.functions.name(frames["offset"][frame])
            node -= nodes["up"][node - 1]

    def where(self):
        """The program's functions of the stack that was sampled most."""
        nodes = self.hang.get("samples", {}).get("node", [])
        return " < ".join(self.stack(max(set(nodes), key=nodes.count))) if nodes else "nothing"

    def blamed(self):
        """The device's verdict: the program's function that it names, or that called the library function it names."""
        return next(self.stack(self.hang["blame"]["node"]), "?") if "blame" in self.hang else ""

    def owner(self):
        """(tid, functions) of the thread said to hold the lock."""
        for thread in self.json.get("threads", []):
            if thread.get("role") == "owner":
                return thread["tid"], list(self.stack(thread["node"]))
        return 0, []


def read_truth(plan, path):
    turns = []
    with open(path) as file:
        for line in file:
            word, *numbers = line.split()
            if word == "turn":
                turns.append(Turn(plan, numbers))
            else:
                turns[-1].end = int(numbers[0])  # killed
    return turns


def tell_where(pid):
    """Where a program that does not end stands: each process of it, and its threads' stacks where gdb is installed."""
    for line in subprocess.run(["ps", "-o", "pid,stat,wchan:24,comm", "-s", str(pid)], stdout=subprocess.PIPE, text=True).stdout.splitlines():
        print(line)
        if shutil.which("gdb") and line.split()[0].isdigit() and "hanger" in line:
            subprocess.run(["gdb", "-q", "-nx", "-batch", "-p", line.split()[0], "-ex", "thread apply all bt 12"], timeout=60, stderr=subprocess.DEVNULL)


def execute(plan, steps, truth, data, store, period_ms):
    """Run a program. Returns its status, -1 if it does not end."""
    program = os.path.join(FOLDER, "hanger" if plan.way == "run" else "hanger_linked")
    command = [program, plan.loop + (f"@{plan.thread}" if plan.thread != "main" else ""), plan.churn, steps, truth, data]
    if plan.way == "run":
        command = [os.path.join(BINARY, "sdk/mire-run"), "--app", "hanger", "--app-version", "1", "--"] + command
    numbers = {"MIRE_STORE": store, "MIRE_THRESHOLD_MS": str(plan.threshold_ms), "MIRE_PERIOD_MS": str(period_ms),
               "MIRE_SETTINGS": "suppress_ms=0"}  # every hang is told, the same one again too
    process = subprocess.Popen(command, env=dict(os.environ, **numbers), start_new_session=True)
    try:
        return process.wait(60)
    except subprocess.TimeoutExpired:
        tell_where(process.pid)
        os.killpg(process.pid, 9)
        process.wait()
        return -1


def count_long_turns(turns, reports):
    """(told by the reports, at least, at most) of the turns of 250 ms and more that had ended with the last report's."""
    told = sum(sum(report.json["turns"]["count"]) for report in reports if "turns" in report.json)
    last = max((turn.end for turn in turns if turn.report), default=0)
    ended = [turn for turn in turns if turn.cause != "kill" and turn.end <= last]
    # Time in which the process was stopped, or nobody could run, is taken off.
    sure = [turn for turn in ended if turn.ms > LONG_MS + 2 and turn.waited < 20 * MS and turn.place not in ("idle", "busy")]
    return told, len(sure), sum(1 for turn in ended if turn.ms > LONG_MS - 2)


def run(plan, data, period_ms):
    """Run one plan in a store of its own: (turns, reports that no turn accounts for, long turns, what went wrong or "")."""
    with tempfile.TemporaryDirectory(prefix="mire-corpus-") as scratch:
        truth, store = os.path.join(scratch, "truth"), os.path.join(scratch, "store")
        killed = plan.steps[-1][0] == "kill"
        want_sessions(store)
        status = execute(plan, str(plan).split()[-1], truth, data, store, period_ms)
        if status != ((128 + 9 if plan.way == "run" else -9) if killed else 0):
            return [], [], None, f"status {status}"
        if plan.way == "linked":  # the next start tells of its session, and of a hang that it was killed in
            status = execute(plan, "sleep/leaf/0/1/running", os.devnull, data, store, period_ms)
            if status != 0:
                return [], [], None, f"status {status} of the next start"
        turns = read_truth(plan, truth)
        functions = Functions(os.path.join(FOLDER, "hanger" if plan.way == "run" else "hanger_linked"))
        sessions = Sessions(store)  # without the next start's, which is starved at times
        reports = [Report(path, functions) for path in sorted(glob.glob(store + "/out/*.report"))
                   if (paper := unpack(path))["kind"] == "event" and paper["process"]["pid"] in sessions.pids]
        fault = sessions.fault(1)
    left = match(turns, reports)
    return turns, left, count_long_turns(turns, reports), f"sessions: {fault}" if fault else ""


def match(turns, reports):
    """Give each turn its report. Returns those that are left over."""
    left = []
    for report in reports:
        near = min(turns, key=lambda turn: abs(turn.begin - report.begin), default=None)
        slack = LONG_AGO_NS if not report.hang.get("launch") else 50 * LONG_AGO_NS
        if near and not near.report and abs(near.begin - report.begin) < slack:
            near.report = report
        else:
            left.append(report)
    return left
