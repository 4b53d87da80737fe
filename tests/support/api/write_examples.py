#!/usr/bin/python3
"""Writes those of schema/api/examples that tell of the fixed world: write_examples.py DIRECTORY

What is in it is changed here or in scenario.py; the others are written by hand. structure/examples holds the files against this.
"""

import json
import pathlib
import sys

import scenario
import twin

RULES = [{"pack": "linux_c", "version": 5, "line": 26, "text": "lock * pthread_mutex_*"}]


def explained(report):
    """With why it has its key: the world has no rules, a server tells those that took part."""
    frames = report["hot"]["frames"]
    lock = next((n for n, f in enumerate(frames) if f["function"].startswith("pthread_mutex_")), None)
    shown = [f | {"rule": 0} if n == lock else f for n, f in enumerate(frames)]
    why = f"{frames[report['caller1']]['function']} holds 100 % of the sampled time (deepest app frame of the path)"
    one, two = (frames[report[which]] for which in ("caller1", "caller2"))
    key = [("caller1", one["function"]), ("module1", one["image"]), ("caller2", two["function"]), ("module2", two["image"]),
           ("category", report["category"]), ("reason", report["reason"])]
    return report | {"hot": report["hot"] | {"frames": shown}, "why": why, "rules": RULES if lock is not None else [],
                     "key": [{"part": part, "text": text, "rules": []} for part, text in key]}


def examples():
    w = twin.World(*scenario.world(), scenario.NOW)
    span, day = w.span(14), w.span(1)
    yield "listApps", w.apps_list()
    yield "getOverview", w.overview("redis", span) | {"apart": [{"key": "system", "reports": 12, "events": 240}]}
    yield "getOverview.empty", w.overview("kiosk", span)
    yield "getFacets", w.facets("redis", span)
    yield "getFacets.empty", w.facets("kiosk", span)
    yield "listIssues", w.issue_list("redis", span)
    yield "listIssues.by-category", w.issue_list("redis", span, by="category")
    yield "listIssues.three-causes", w.issue_list("stalls", span)
    yield "listIssues.empty", w.issue_list("kiosk", span)
    yield "getIssue", w.issue("redis", 1, span)
    yield "getIssue.one-day", w.issue("redis", 1, day)
    yield "listReports", w.reports("redis", 1, span)[1]
    yield "getReport", explained(w.report("redis", 1, "latest", span))
    yield "getReport.killed", explained(w.report("redis", 5, "worst", span))
    yield "getReport.lock", explained(w.report("stalls", 7, "latest", span))
    yield "getReport.power", explained(w.report("stalls", 9, "latest", span))
    yield "getIssue.lock", w.issue("stalls", 7, span)
    yield "listIssues.memory", w.issue_list("mapview", span, kind=["foom", "memory"])
    yield "getIssue.memory", w.issue("mapview", 11, span)
    yield "getMemory", folded(w.memory("mapview", 11, "latest", span))
    yield "getMemory.sampled", folded(w.memory("mapview", 13, "latest", span))
    yield "getIssueMemory", w.issue_memory("mapview", 11, span)
    yield "getHealthy", w.healthy("mapview", ["8.0.38"], "4gb")
    yield "getFlame.memory", w.flame("mapview", 11, span)
    yield "getFlame", w.flame("redis", 1, span)
    yield "getFlame.threads", w.flame("stalls", 9, span)
    from_1, from_2 = (w.summary(i, w.select("redis", span), span) for i in (1, 2))
    as_one = w.shown({2: 1}, {})
    merged = as_one.summary(1, as_one.select("redis", span), span)
    yield "mergeIssues", {"preview": False, "act": 7, "reports": from_2["totals"]["reports"], "before": [from_1, from_2], "after": [merged]}
    yield "unmergeIssues", {"preview": True, "act": None, "reports": from_2["totals"]["reports"], "before": [merged], "after": [from_1, from_2]}
    apart = w.shown({}, {(1, 5): 90})
    apart.issues[90] = {**w.issues[1], "issue_id": 90, "split_from": 1}
    yield "splitIssue", {"preview": False, "act": 8, "reports": sum(h["issue_id"] == 90 for h in apart.events), "before": [from_1],
                         "after": [apart.summary(i, apart.select("redis", span), span) for i in (1, 90)]}
    stack = lambda issue: [{k: f[k] for k in ("function", "image", "role")} for f in (
        h["doc"]["frames"][f] for h in [next(h for h in w.events if h["issue_id"] == issue)] for f in h["doc"]["hot"]["stack"])]
    ours, theirs = stack(2), stack(1)
    pairs = [(a, b) for a, f in enumerate(ours) for b, g in enumerate(theirs) if f == g][-4:]
    end = lambda issue, frames: {"issue": f"I-{issue}", "tree": f"I-{issue}.0000000{issue}", "frames": frames, "caller1": next(
        n for n, f in enumerate(frames) if f["function"] == w.issues[issue]["caller1"])}
    yield "getSimilar", {"range": w.range([], span), "id": "I-2", "trees": 1, "suggested_from": 0.6, "suggestions": [
        {"issue": from_1, "score": 0.42, "likeness": 0.44, "members": 2, "suggested": False, "ours": end(2, ours),
         "theirs": end(1, theirs), "aligned": [{"ours": a, "theirs": b, "weight": 0.11} for a, b in pairs]}]}
    yield "getProvenance", {"range": w.range([], span), "id": "I-1", "members": [
        {"id": f["id"], **{k: f[k] for k in ("caller1", "caller2", "category", "reason", "state", "first_seen_at")},
         "reports": f["totals"]["reports"], "events": f["totals"]["events"]} for f in (from_1, from_2)],
        "trees": [{"id": "I-1.00000005", "issue": "I-1", "reports": 16, "events": 16, "first_seen_at": from_1["first_seen_at"],
                   "last_seen_at": from_1["last_seen_at"], "frames": theirs, "caller1": end(1, theirs)["caller1"]}],
        "other_reports": 14, "acts": [{"act": 7, "kind": "merge", "what": "I-2", "into": "I-1", "author": "kim",
                                       "reason": "both sort the whole keyspace", "at": "2026-11-20T09:12:00Z", "undone_at": None,
                                       "undone_by": "", "undone_why": ""}]}
    yield "sendReport", {"report_id": w.events[-1]["report_id"]}


def folded(memory):
    """Stacks as nodes of one trie."""
    locations, nodes, known = [], [], {}

    def node(frames):
        at = 0
        for f in reversed(frames):
            if f not in locations:
                locations.append(f)
            key = at, locations.index(f)
            if key not in known:
                nodes.append(key)
                known[key] = len(nodes)
            at = known[key]
        return at

    stacks = [{**{k: v for k, v in s.items() if k != "frames"}, "node": node(s["frames"])} for s in memory["stacks"]]
    return {**memory, "stacks": stacks, "locations": locations,
            "nodes": {"parent": [p for p, _ in nodes], "location": [x for _, x in nodes]}}


def text(value):
    """Objects by line; arrays of plain values, and objects without nested ones, on one line."""
    def put(v, pad):
        inner = list(v.values()) if isinstance(v, dict) else v
        if not isinstance(v, (dict, list)) or not any(isinstance(x, (dict, list)) for x in inner):
            return json.dumps(v, ensure_ascii=False)
        deeper = pad + "  "
        if isinstance(v, dict):
            return "{\n" + ",\n".join(f"{deeper}{json.dumps(k)}: {put(x, deeper)}" for k, x in v.items()) + "\n" + pad + "}"
        return "[\n" + ",\n".join(deeper + put(x, deeper) for x in v) + "\n" + pad + "]"
    return put(value, "") + "\n"


if __name__ == "__main__":
    for name, value in examples():
        pathlib.Path(sys.argv[1], name + ".json").write_text(text(value), encoding="utf-8")
