#!/usr/bin/env python3
"""Programs of Debian as they are, hung in known ways, at rest and ended, beside what the kernel saw of them: `README.md`.

    programs.py [--quick] [--only NAME,NAME] [--rest S] [--jobs N] [--verbose]

$ONLY is what --only says where that is not given. Exits 0 if no goal is short, 77 where perf may not record."""
import argparse
import concurrent.futures
import os
import pathlib
import shutil
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["MIRE_SOURCE_DIR"], "tests/support"))
import mired as mired_support
from starved import witness
from table import interpreters, servers, terminals, windows
from truth import can_record
from watch import Lab, try_row

SKIPPED = 77
ROWS = servers.ROWS + interpreters.ROWS + terminals.ROWS + windows.ROWS
TITLES = ("runs", "hangs", "seen", "invented", "worst ms", "sessions", "exits", "output", "Caller1", "Caller2", "reason", "kind", "memory")


def counts(grades):
    """right/acceptable/wrong"""
    return "/".join(str(grades.count(word)) for word in ("right", "acceptable", "wrong")) if grades else "-"


def print_row(name, result):
    worst = max(map(abs, result.lengths), default=0)
    cells = (result.runs, result.over, result.seen, result.invented, f"{worst:.1f}", result.sessions, result.exits, result.outputs,
             *(counts(result.grades[what]) for what in ("Caller1", "Caller2", "reason", "kind", "memory")))
    print(f"{name:14}" + "".join(f"{cell:>10}" for cell in cells))


class Sum:
    """All results together."""

    def __init__(self, results):
        for field in ("runs", "over", "seen", "unmade", "starved", "invented", "sessions", "exits", "outputs"):
            setattr(self, field, sum(getattr(result, field) for result in results))
        self.lengths = [length for result in results for length in result.lengths]
        self.grades = {what: [word for result in results for word in result.grades[what]] for what in ("Caller1", "Caller2", "reason", "kind", "memory")}


def percent(some, whole):
    return 100 * some / whole if whole else 100.0


def goals(total, results, quick):
    def share(what, *words):
        grades = total.grades[what]
        return percent(sum(grade in words for grade in grades), len(grades))

    yield "programs_that_could_not_be_run", sum(len(result.broken) for result in results), "", 0, "<="
    yield "hangs_not_made", total.unmade, "", 0, "<="
    yield "hangs_seen", percent(total.seen, total.over), "%", 98, ">="
    yield "hangs_invented", total.invented, "", 0, "<="
    yield "lengths_within_10_ms", percent(sum(abs(length) <= 10 for length in total.lengths), len(total.lengths)), "%", 100 if not quick else 80, ">="
    yield "runs_that_are_one_session", percent(total.sessions, total.runs), "%", 100, ">="
    yield "exits_right", percent(total.exits, total.runs), "%", 100, ">="
    yield "status_and_output_as_without", percent(total.outputs, total.runs), "%", 100, ">="
    yield "caller1_right_or_acceptable", share("Caller1", "right", "acceptable"), "%", 90, ">="
    yield "caller1_right", share("Caller1", "right"), "%", 75, ">="
    yield "caller2_right_or_acceptable", share("Caller2", "right", "acceptable"), "%", 85, ">="
    yield "reason_right", share("reason", "right"), "%", 95, ">="
    yield "kind_right", share("kind", "right"), "%", 95, ">="
    if total.grades["memory"]:
        yield "memory_caller1_right_or_acceptable", share("memory", "right", "acceptable"), "%", 85, ">="


def print_goals(total, results, quick):
    shorts = 0
    for name, value, unit, goal, order in goals(total, results, quick):
        short = value > goal if order == "<=" else value < goal
        shorts += short
        print(f"{name} {value:.4g} {unit}".rstrip() + f" | goal {order} {goal} | {'short' if short else 'ok'}")
    return shorts


def choose(options):
    rows = [row for row in ROWS if row.name in options.only.split(",")] if options.only else [row for row in ROWS if row.quick or not options.quick]
    assert rows, f"no such program: {options.only}; there are: {' '.join(row.name for row in ROWS)}"
    missing = {row.name: [need for need in row.needs if not shutil.which(need)] for row in rows}
    for name, needs in missing.items():
        if needs:
            print(f"skipped, not installed: {name} ({' '.join(needs)})")
    return [row for row in rows if not missing[row.name]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a few of them, as make test does")
    parser.add_argument("--only", default=os.environ.get("ONLY", ""))
    parser.add_argument("--rest", type=float, default=60, help="seconds at rest; 60")
    parser.add_argument("--jobs", type=int, default=5)
    parser.add_argument("--verbose", action="store_true", help="every verdict, not only what is wrong")
    options = parser.parse_args()
    if not can_record():
        print("skipped: perf may not record system calls here")
        sys.exit(SKIPPED)
    rows = choose(options)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup the programs would inherit that it is ignored
    print(f"{'':14}" + "".join(f"{title:>10}" for title in TITLES), flush=True)
    witness()  # from now on
    with mired_support.scratch("programs") as folder:
        mired = mired_support.Mired(pathlib.Path(folder), "--local-images=yes")
        try:
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                tasks = [pool.submit(try_row, row, Lab(mired, witness()), options) for row in rows]
                for task in concurrent.futures.as_completed(tasks):
                    print_row(task.result().row.name, task.result())
                    sys.stdout.flush()
                results = [task.result() for task in tasks]
        finally:
            mired.stop()
    total = Sum(results)
    print_row("all", total)
    for result in results:
        for note in result.notes + [f"BROKEN {why}" for why in result.broken]:
            if options.verbose or "  <- " in note or not any(hang.name + ":" in note for hang in result.row.hangs):
                print(f"{result.row.name}: {note}")
    sys.exit(1 if print_goals(total, results, options.quick) else 0)


main()
