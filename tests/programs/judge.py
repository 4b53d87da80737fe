"""A run's truth and Mire's account of it, held against each other."""
import fnmatch

NEAR_MS = 15    # so close to the threshold a turn may be reported or not
LENGTH_MS = 10
REST_KINDS = {"hang", "launch", "killed", "background", "threads", "system", "idle"}


class Result:
    """What came of all runs of one program."""

    def __init__(self, row):
        self.row, self.runs = row, 0
        self.over, self.seen, self.unmade, self.starved = 0, 0, 0, 0
        self.invented, self.lengths = 0, []
        self.sessions, self.exits, self.outputs = 0, 0, 0
        self.grades = {"Caller1": [], "Caller2": [], "reason": [], "kind": [], "memory": []}
        self.notes, self.broken = [], []


def any_of(patterns, name):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def grade(name, right, good):
    return "right" if any_of(right, name) else "acceptable" if any_of(good, name) else "wrong"


def of_thread(run):
    """Reports of a hang of the process that was watched."""
    return [report for report in run.reports if report["document"].get("event", {}).get("trigger", "busy") in ("busy", "unanswered")
            and report["document"].get("process", {}).get("pid") == run.pid and "begin_ns" in report["document"].get("event", {})]


def span(report):
    """From begin to end: time in which nobody let the process run is told apart from its length."""
    hang = report["document"]["event"]
    return hang["begin_ns"], hang["begin_ns"] + (hang["duration_ms"] + hang.get("late_ms", 0) + hang.get("suspended_ms", 0)) * 1_000_000


def find_report(turn, reports):
    """The report that shares most of a turn's time, and more than half of it."""
    best = max(reports, key=lambda report: turn.shares(*span(report)), default=None)
    return best if best and turn.shares(*span(best)) * 2 > turn.end - turn.begin else None


def turn_of(run, window):
    """The turn that shares most of a hang's time, if any."""
    _, begin, stop = window
    return max((turn for turn in run.turns if turn.shares(begin, stop)), key=lambda turn: turn.shares(begin, stop), default=None)


def unmade(run, end, threshold_ms):
    """Hangs that are too short to be one, or to be killed in, and their length by the kernel."""
    for window in run.windows:
        turn = turn_of(run, window)
        if not turn or turn.ms < threshold_ms + NEAR_MS or (end.hung and window is run.windows[-1] and not turn.open):
            yield window[0], turn.ms if turn else 0


def judge_run(result, run, end, threshold_ms, witness):
    result.runs += 1
    reports = of_thread(run)
    matched = judge_turns(result, run, end, reports, threshold_ms, witness)
    for report in reports:
        begin, stop = span(report)
        covered = any(turn.shares(begin, stop) * 2 > stop - begin and turn.ms > threshold_ms - NEAR_MS for turn in run.turns)
        if begin < run.watched_from or id(report) in matched or covered:
            continue
        result.invented += 1
        result.notes.append(f"{end.name}: invented {(stop - begin) // 1_000_000} ms, {blame(report)}")
    strangers = [report for report in run.reports if report["category"] in REST_KINDS and report not in reports
                 and report["document"].get("event", {}).get("begin_ns", 0) > run.watched_from]
    for report in strangers:
        result.notes.append(f"{end.name}: of another process: {blame(report)}")
    judge_end(result, run, end, threshold_ms)


def judge_turns(result, run, end, reports, threshold_ms, witness):
    matched = set()
    for turn in run.turns:
        if turn.longest.ms < threshold_ms + NEAR_MS or turn.begin < run.watched_from:
            continue
        report = find_report(turn.longest, reports)
        if not report and witness.saw(turn.begin, turn.end) and turn.ms < threshold_ms * 1.5:
            result.starved += 1
            continue
        result.over += 1
        if not report:
            result.notes.append(f"{end.name}: unseen {turn.ms:.0f} ms{' (open)' * turn.open}{in_window(run, turn)}")
            continue
        result.seen += 1
        matched.add(id(report))
        apart = (span(report)[1] - span(report)[0]) / 1e6 - turn.ms
        if not turn.open and len(turn.pieces) == 1 and not witness.saw(turn.begin, turn.end):
            result.lengths.append(apart)
            if abs(apart) > LENGTH_MS:
                result.notes.append(f"{end.name}: {turn.ms:.0f} ms told {apart:+.0f} ms{in_window(run, turn)}")
    short = {hang.name for hang, _ in unmade(run, end, threshold_ms)}
    for window in run.windows:
        hang, turn = window[0], turn_of(run, window)
        if hang.name not in short and (report := find_report(turn, reports)):
            grade_report(result, end, hang, report, turn)
    return matched


def in_window(run, turn):
    return next((f", {hang.name}" for hang, begin, stop in run.windows if turn.shares(begin, stop)), "")


def blame(report):
    return f"{report['category']}, {report['reason']}, {report['caller1']}; {report['caller2']}"


def grade_report(result, end, hang, report, turn):
    kinds = ("killed",) if turn.open else hang.kinds
    given = {"Caller1": grade(report["caller1"], hang.right1, hang.good1), "Caller2": grade(report["caller2"], hang.right2, hang.good2),
             "reason": grade(report["reason"], hang.reasons, ()), "kind": grade(report["category"], kinds, ())}
    for what, grade_of in given.items():
        result.grades[what].append(grade_of)
    bad = [f"{what} {grade_of}" for what, grade_of in given.items() if grade_of != "right"]
    result.notes.append(f"{end.name}, {hang.name}: {blame(report)}" + (f"  <- {', '.join(bad)}" if bad else ""))


def judge_end(result, run, end, threshold_ms):
    """The session, the verdict, the status and the output."""
    if len(run.sessions) == 1:
        result.sessions += 1
    else:
        result.notes.append(f"{end.name}: {len(run.sessions)} sessions of one run")
    hung = bool(run.killed_at and not result.row.worker and run.turns and run.turns[-1].open and run.turns[-1].ms > threshold_ms)
    expected = verdict_of(run.status, hung)
    said = [verdict for verdict, _ in run.verdicts]
    if expected in said:
        result.exits += 1
    else:
        result.notes.append(f"{end.name}: ended {run.status}, verdict {said}, not {expected}")
    same = run.status == run.bare_status and (end.abrupt or run.outcome == run.bare_outcome)
    result.outputs += same
    if not same:
        result.notes.append(f"{end.name}: status {run.status}, without Mire {run.bare_status}; output differs: {differing(run)}")


def differing(run):
    ours, theirs = set(run.outcome or ()), set(run.bare_outcome or ())
    return [f"+ {line[:90]}" for line in ours - theirs][:3] + [f"- {line[:90]}" for line in theirs - ours][:3]


def verdict_of(status, hung):
    if status == 128 + 9:
        return "watchdog_kill" if hung else "os_kill"
    if status in (128 + 15, 128 + 2, 128 + 1):
        return "user_quit"
    if status == 128 + 6:
        return "abort"
    return "crash" if status > 128 else "clean_exit"


def judge_memory(result, reports):
    memory = result.row.memory
    if not reports:
        result.notes.append("memory: no report")
        result.grades["memory"].append("wrong")
        return
    best = grade(reports[-1]["caller1"], memory.right1, memory.good1)
    result.grades["memory"].append(best)
    result.notes.append(f"memory: {blame(reports[-1])}" + (f"  <- {best}" if best != "right" else ""))
