#!/usr/bin/env python3
"""Hangs of which everything is known, and what Mire says of them, in one table.

    corpus.py [--quick] [--linked] [--nameless] [--seed N] [--rounds N] [--jobs N]

How to read the table: docs/corpus.md. Exits 0 if no goal is short."""
import argparse
import concurrent.futures
import os
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
import plan as plans

THRESHOLD_MS, PERIOD_MS = 300, 20
NEAR_MS = 1  # so close to the threshold a hang may be reported or not: the clocks are read some time apart
STARVED_NS = 30 * plans.MS
WAITED_SHARE = 0.2  # a hang that waited more for a processor is one of waiting, and the planted function did not have its share


class Witness:
    """Notices when this machine lets nobody run: sleeps that end late."""

    def __init__(self):
        self.gaps = []
        threading.Thread(target=self.look, daemon=True).start()

    def look(self):
        while True:
            due = time.monotonic_ns() + 10 * plans.MS
            time.sleep(0.01)
            if time.monotonic_ns() - due > STARVED_NS:
                self.gaps.append((due, time.monotonic_ns()))

    def saw(self, turn):
        return any(begin < turn.end and end > turn.begin for begin, end in self.gaps)


class Outcome:
    """What came of all plans."""

    def __init__(self):
        self.witness = Witness()
        self.turns = []
        self.strays = []    # (plan, report) that no turn accounts for
        self.failures = []  # (plan, what went wrong)
        self.counts = []    # (plan, (turns of 250 ms and more that the reports tell, at least there were, at most))

    def add(self, plan, turns, strays, count, why):
        self.turns += turns
        self.strays += [(plan, report) for report in strays]
        self.failures += [(plan, why)] if why else []
        self.counts += [(plan, count)] if count else []

    def miscounted(self):
        return [(plan, count) for plan, count in self.counts if not count[1] <= count[0] <= count[2]]


class Row:
    """The turns of one kind, counted."""

    COLUMNS = ("over", "found", "missed", "starved", "under", "false", "median", "p99", "max", "device", "Caller1",
               "Caller2")

    def __init__(self, turns, witness):
        hangs = [turn for turn in turns if turn.cause not in ("stop", "kill", "unplanned")]
        self.over = [turn for turn in hangs if turn.ms >= THRESHOLD_MS + NEAR_MS]
        self.under = [turn for turn in turns if turn.cause != "stop" and turn.ms < THRESHOLD_MS - NEAR_MS]
        self.found = [turn for turn in self.over if turn.report]
        lost = [turn for turn in self.over if not turn.report]
        self.starved = [turn for turn in lost if turn.waited >= STARVED_NS or witness.saw(turn)]
        self.missed = [turn for turn in lost if turn not in self.starved]
        self.false = [turn for turn in self.under if turn.report]
        self.errors = sorted(length_error_ms(turn) for turn in self.found)
        self.due = [turn for turn in self.found if turn.waited < (turn.end - turn.begin) * WAITED_SHARE]
        self.device = [turn for turn in self.due if turn.report.blamed() == turn.planted]
        self.caller1 = [turn for turn in self.due if turn.report.caller1 == turn.planted]
        self.caller2 = [turn for turn in self.due if turn.report.caller2 == turn.scene]

    def error(self, share):
        return self.errors[min(len(self.errors) - 1, int(len(self.errors) * share))] if self.errors else 0.0

    def share(self, some):
        return percent(some, self.due)

    def cells(self):
        counts = [len(group) for group in (self.over, self.found, self.missed, self.starved, self.under, self.false)]
        return [*map(str, counts), *(f"{self.error(share):.2f}" for share in (0.5, 0.99, 1)),
                *(f"{self.share(some):.1f}" for some in (self.device, self.caller1, self.caller2))]


def percent(some, whole):
    return 100 * len(some) / len(whole) if whole else 100.0


def length_error_ms(turn):
    """How far the true length lies outside the millisecond that the report names."""
    return max(turn.report.ms - turn.ms, turn.ms - turn.report.ms - 1, 0.0)


def groups(turns):
    yield "all", turns
    for title, key, names in (("cause", lambda turn: turn.cause, plans.CAUSES),
                              ("place", lambda turn: turn.place, plans.PLACES),
                              ("phase", lambda turn: turn.phase, ("launch", "running", "background")),
                              ("loop", lambda turn: turn.plan.loop, plans.LOOPS),
                              ("thread", lambda turn: turn.plan.thread, plans.THREADS),
                              ("beside", lambda turn: turn.plan.churn, plans.CHURNS),
                              ("by", lambda turn: turn.plan.way, plans.WAYS)):
        for name in names:
            of_it = [turn for turn in turns if key(turn) == name]
            if of_it:
                yield f"{title} {name.replace('malloc+dlopen+fork+exit', 'all four')}", of_it


def print_table(outcome):
    print(f"{'':18}" + "".join(f"{title:>9}" for title in Row.COLUMNS))
    for title, some in groups(outcome.turns):
        print(f"{title:18}" + "".join(f"{cell:>9}" for cell in Row(some, outcome.witness).cells()))


def complain(outcome):
    """Each case that is not as it should be, so that it can be run again."""
    row = Row(outcome.turns, outcome.witness)
    inside = [turn for turn in outcome.turns if turn.cause == "stop" and turn.place == "hang" and not turn.report]
    killed = [turn for turn in outcome.turns if turn.cause == "kill" and not (turn.report and turn.report.hang["open"])]
    for what, some in (("missed", row.missed), ("starved", row.starved), ("false", row.false), ("missed with its stop", inside), ("killed", killed),
                       ("not named", [turn for turn in row.due if any(turn not in some for some in (row.caller1, row.caller2, row.device))])):
        for turn in some[:20]:
            said = (f", reported {turn.report.ms} ms, Caller1 {turn.report.caller1}, Caller2 {turn.report.caller2}, "
                    f"blamed {turn.report.blamed()}") if turn.report else ""
            print(f"{what}: {turn.cause}/{turn.place}/{turn.number} {turn.phase} in {turn.scene}, {turn.ms:.2f} ms, queued {turn.waited // plans.MS} ms{said}"
                  f"\n    {turn.plan}")
    for plan, report in outcome.strays:
        hang = report.hang
        print(f"stray report: {report.ms} ms, begun {report.begin}, "
              + ", ".join(f"{key} {hang[key]}" for key in ("gate", "launch", "open", "exited", "late_ms", "unsure_ms") if hang.get(key))
              + f", Caller1 {report.caller1}, sampled in {report.where()}\n    {plan}")
    for plan, (told, least, most) in outcome.miscounted():
        print(f"long turns: {told} told, {least} to {most} there were\n    {plan}")
    for plan, why in outcome.failures:
        print(f"{why}: {plan}")


def print_goals(outcome, options):
    turns, witness = outcome.turns, outcome.witness
    row = Row(turns, witness)
    running = Row([turn for turn in turns if turn.phase != "launch"], witness)
    stops = [turn for turn in turns if turn.cause == "stop" and turn.place != "hang"]
    stopped = [turn for turn in stops if turn.report and turn.waited < STARVED_NS]
    inside = [turn for turn in turns if turn.cause == "stop" and turn.place == "hang" and turn.ms >= THRESHOLD_MS]
    killed = [turn for turn in turns if turn.cause == "kill" and turn.ms > THRESHOLD_MS + 2 * PERIOD_MS and not witness.saw(turn)]
    open_ones = [turn for turn in killed if turn.report and turn.report.hang["open"]]
    away = [turn for turn in row.found if turn.phase == "background"]
    elsewhere = [turn for turn in row.found if turn.plan.thread != "main"]
    sleeps = sum(8 if turn.place == "middle" else 1 for turn in turns if turn.cause == "sleep")
    locks = [turn for turn in row.found if turn.owner]
    owners = [turn for turn in locks if turn.report.owner()[0] == turn.owner]
    stacks = [turn for turn in owners if "hold_the_lock" in turn.report.owner()[1]]
    sizes = sorted(turn.report.size for turn in row.found)
    seen = [turn for turn in row.over if turn not in row.starved]
    lines = [
        ("programs_failed", len(outcome.failures), "", 0, "<="),
        ("hangs_found", percent(row.found, seen), "%", 100, ">="),
        ("reports_below_threshold", len(row.false), "", 0, "<="),
        ("reports_of_nothing", len(outcome.strays), "", 0, "<="),
        ("hangs_by_stop", len(stopped), f"of {len(stops)} stops", 0, "<="),
        ("hangs_stopped_meanwhile_found", percent([turn for turn in inside if turn.report], inside), "%", 100, ">="),
        ("hangs_killed_found_open", percent(open_ones, killed), "%", 60 if options.quick else 100, ">="),
        ("killed_length_lost_median", sorted(turn.ms - turn.report.ms for turn in open_ones)[len(open_ones) // 2] if open_ones else 0, "ms",
         PERIOD_MS * (5 if options.quick else 1), "<="),
        ("long_turns_miscounted", len(outcome.miscounted()), f"of {len(outcome.counts)} programs", 0, "<="),
        ("background_told", percent([turn for turn in away if turn.report.hang.get("foreground") is False], away), "%", 100, ">="),
        ("thread_told", percent([turn for turn in elsewhere if turn.report.hang["thread"].get("name") == "corpus-ui"], elsewhere), "%", 100, ">="),
        ("sleeps_cut_short", 100 * sum(turn.cut for turn in turns) / max(1, sleeps), f"% of {sleeps} sleeps", 10 if options.quick else 1, "<="),
        ("length_error_median", running.error(0.5), "ms", 1, "<="),
        ("length_error_p99", running.error(0.99), "ms",
         50 if options.quick else 1, "<="),  # a busy machine may delay the program between its own clock and Mire's
    ] + ([] if options.nameless else [
        ("planted_is_Caller1", row.share(row.caller1), "%", 85 if options.quick else 99, ">="),
        ("planted_scene_is_Caller2", row.share(row.caller2), "%", 85 if options.quick else 97, ">="),
        ("planted_is_blamed_by_device", row.share(row.device), "%", 85 if options.quick else 99, ">="),
        ("mutex_owner_named", percent(owners, locks), "%", 90 if options.quick else 99, ">="),
        ("mutex_owner_stack", percent(stacks, locks), "%", 90 if options.quick else 99, ">="),
    ]) + [
        ("report_size_p99", sizes[int(len(sizes) * 0.99)] / 1024 if sizes else 0, "KB", 8, "<="),
    ]
    shorts = []
    for name, value, unit, goal, order in lines:
        short = value > goal if order == "<=" else value < goal
        shorts += [name] * short
        print(f"{name} {value:.6g} {unit}".rstrip() + f" | goal {order} {goal} | {'short' if short else 'ok'}")
    return shorts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a few of them, as make test does")
    parser.add_argument("--linked", action="store_true", help="not under mire-run: its library cannot be preloaded with a sanitizer")
    parser.add_argument("--nameless", action="store_true", help="no goal for names: ThreadSanitizer lets samples wait")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    chosen = plans.plans(options.seed, 1 if options.quick else options.rounds, THRESHOLD_MS, plans.WAYS[options.linked:])
    chosen = plans.few(chosen) if options.quick else chosen
    outcome = Outcome()
    with tempfile.NamedTemporaryFile(prefix="mire-corpus-", dir="/var/tmp") as data, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        data.write(os.urandom(16 << 20))
        data.flush()
        for plan, came in zip(chosen, pool.map(lambda plan: plans.run(plan, data.name, PERIOD_MS), chosen)):
            outcome.add(plan, *came)
    print(f"seed {options.seed}: {len(chosen)} programs, {sum(len(plan.steps) for plan in chosen)} steps, threshold {THRESHOLD_MS} ms, "
          f"a sample every {PERIOD_MS} ms; lengths in ms, names in %")
    print_table(outcome)
    complain(outcome)
    return 1 if print_goals(outcome, options) else 0


if __name__ == "__main__":
    sys.exit(main())
