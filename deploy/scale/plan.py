#!/usr/bin/env python3
"""The machines that a number of installations needs, from figures that `make bench-work` and `make bench-ingest` measure.

usage: plan.py                     the table of docs/scale.md
       plan.py --daily 2000000 --hang 0.05 --session 0.1 ...      one line, with shares of your own
"""
import argparse

DAY_S = 86400
KB, GB, TB = 1e3, 1e9, 1e12

# Measured per report, on two cores of a virtual machine that ran PostgreSQL, mired and the generator. CPU in ms, sizes in KB.
#   check, postgres_in, wal_in, worker, postgres_work, wal_work, disk: bench_work 60000; of session records bench_work 20000 session.
#   worker, postgres_work and wal_work include the merger
#   receive: make bench-ingest, ingest_group_cpu_5kb: HTTP, the queue and PostgreSQL, without the check
HANG = {"body": 4.16, "check": 0.09, "receive": 0.122, "postgres_in": 0.06, "wal_in": 5.22, "worker": 0.40, "postgres_work": 0.16,
        "wal_work": 6.05, "disk": 10.65, "rows": 4}
SESSION = {"body": 0.22, "check": 0.03, "receive": 0.122, "postgres_in": 0.04, "wal_in": 0.85, "worker": 0.03, "postgres_work": 0.03,
           "wal_work": 0.42, "disk": 0.59, "rows": 2}

BUSY = 0.5       # share of a core that is planned for, at the peak of the day
NODE_CORES = 16  # of one machine with PostgreSQL
NODE_BYTES = 4 * TB

SHARES = [  # name, hang, session
    ("2 %, 10 %", 0.02, 0.10),
    ("20 %, 20 %", 0.20, 0.20),
    ("all, all", 1, 1),
]


def per_s(daily, share, each):
    return daily * share * each / DAY_S


def plan(daily, hang, session, runs, hangs, days, peak):
    """Figures of one line. Reports a second are means; cores are those of the peak."""
    rates = [(per_s(daily, hang, runs * hangs), HANG), (per_s(daily, session, runs), SESSION)]

    def a_day(key):
        return sum(rate * DAY_S * kind[key] for rate, kind in rates)

    def cores(cost):
        return sum(rate * peak * cost(kind) / 1000 for rate, kind in rates) / BUSY

    disk = a_day("disk") * KB * days
    postgres = cores(lambda kind: kind["postgres_in"] + kind["postgres_work"])
    return {
        "mean": sum(rate for rate, _ in rates),
        "peak": sum(rate for rate, _ in rates) * peak,
        "network": a_day("body") * KB,
        "rows": a_day("rows"),
        "wal": (a_day("wal_in") + a_day("wal_work")) * KB,
        "disk": disk,
        "http": cores(lambda kind: kind["check"] + kind["receive"] - kind["postgres_in"]),
        "work": cores(lambda kind: kind["worker"]),
        "postgres": postgres,
        "nodes": max(1, -int(-postgres // NODE_CORES), -int(-disk // NODE_BYTES)),
    }


def number(value):
    """Two significant digits, and at least one core or report."""
    if value < 10:
        return f"{max(value, 0.1):.1f}"
    digits = len(str(int(value)))
    return f"{round(value, 2 - digits):,.0f}"


def size(value):
    return f"{number(value / TB)} TB" if value >= TB else f"{number(value / GB)} GB"


HEADS = ["daily installations", "hang, session", "reports/s", "at the peak", "received a day", "rows a day", "WAL a day", "disk",
         "cores: http", "work", "PostgreSQL", "machines with PostgreSQL"]


def line(daily, name, figures):
    return [f"{daily / 1e6:g} million", name, number(figures["mean"]), number(figures["peak"]), size(figures["network"]),
            f"{number(figures['rows'] / 1e6)} million", size(figures["wal"]), size(figures["disk"]), number(figures["http"]),
            number(figures["work"]), number(figures["postgres"]), str(figures["nodes"])]


def table(lines):
    print("| " + " | ".join(HEADS) + " |")
    print("|" + "---|" * len(HEADS))
    for cells in lines:
        print("| " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--daily", type=float, help="installations that run a day; none: the table of docs/scale.md")
    parser.add_argument("--hang", type=float, default=0.02, help="share that watches for hangs")
    parser.add_argument("--session", type=float, default=0.1, help="share that sends session records")
    parser.add_argument("--runs", type=float, default=3, help="runs of an installation in a day")
    parser.add_argument("--hangs", type=float, default=0.05, help="reports of hangs in a run")
    parser.add_argument("--days", type=float, default=90, help="days for which reports are kept")
    parser.add_argument("--peak", type=float, default=3, help="reports a second at the peak of the day, over the mean")
    given = vars(parser.parse_args())
    daily, hang, session = given.pop("daily"), given.pop("hang"), given.pop("session")
    if daily is not None and not (daily > 0 and 0 <= hang <= 1 and 0 <= session <= 1 and all(v > 0 for v in given.values())):
        parser.error("shares are between 0 and 1, all else is above 0")
    if daily is None:
        table([line(d, name, plan(d, h, s, **given)) for name, h, s in SHARES for d in (1e6, 1e7, 1e8)])
    else:
        table([line(daily, f"{hang * 100:g} %, {session * 100:g} %", plan(daily, hang, session, **given))])


if __name__ == "__main__":
    main()
