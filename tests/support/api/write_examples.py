#!/usr/bin/python3
"""Writes schema/api/examples from the fixed world: write_examples.py DIRECTORY"""

import json
import pathlib
import sys

import scenario
import twin


def examples():
    w = twin.World(*scenario.world(), scenario.NOW)
    span, day = w.span(14), w.span(1)
    yield "listApps", w.apps_list()
    yield "getOverview", w.overview("redis", span)
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
    yield "getReport", w.report("redis", 1, "latest", span)
    yield "getReport.killed", w.report("redis", 5, "worst", span)
    yield "getReport.lock", w.report("stalls", 7, "latest", span)
    yield "getReport.power", w.report("stalls", 9, "latest", span)
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
    from_1, from_2 = (w.feature(i, w.select("redis", span), span) for i in (1, 2))
    as_one = w.shown({2: 1}, {})
    merged = as_one.feature(1, as_one.select("redis", span), span)
    yield "mergeIssues", {"preview": False, "act": 7, "reports": from_2["totals"]["reports"], "before": [from_1, from_2], "after": [merged]}
    yield "unmergeIssues", {"preview": True, "act": None, "reports": from_2["totals"]["reports"], "before": [merged], "after": [from_1, from_2]}
    apart = w.shown({}, {(1, 5): 90})
    apart.issues[90] = {**w.issues[1], "issue_id": 90, "split_from": 1}
    yield "splitIssue", {"preview": False, "act": 8, "reports": sum(h["issue_id"] == 90 for h in apart.hangs), "before": [from_1],
                         "after": [apart.feature(i, apart.select("redis", span), span) for i in (1, 90)]}
    stack = lambda issue: [{k: f[k] for k in ("function", "image", "role")} for f in (
        h["doc"]["frames"][f] for h in [next(h for h in w.hangs if h["issue_id"] == issue)] for f in h["doc"]["hot"]["stack"])]
    ours, theirs = stack(2), stack(1)
    pairs = [(a, b) for a, f in enumerate(ours) for b, g in enumerate(theirs) if f == g][-4:]
    end = lambda issue, frames: {"issue": f"H-{issue}", "tree": f"H-{issue}.0000000{issue}", "frames": frames, "caller1": next(
        n for n, f in enumerate(frames) if f["function"] == w.issues[issue]["caller1"])}
    yield "getSimilar", {"range": w.range([], span), "id": "H-2", "trees": 1, "suggested_from": 0.5, "suggestions": [
        {"feature": from_1, "score": 0.48, "likeness": 0.44, "members": 2, "suggested": False, "ours": end(2, ours),
         "theirs": end(1, theirs), "aligned": [{"ours": a, "theirs": b, "weight": 0.11} for a, b in pairs]}]}
    yield "getMadeOf", {"range": w.range([], span), "id": "H-1", "members": [
        {"id": f["id"], **{k: f[k] for k in ("caller1", "caller2", "category", "reason", "state", "first_seen_at")},
         "reports": f["totals"]["reports"], "hangs": f["totals"]["hangs"]} for f in (from_1, from_2)],
        "trees": [{"id": "H-1.00000005", "issue": "H-1", "reports": 16, "hangs": 16, "first_seen_at": from_1["first_seen_at"],
                   "last_seen_at": from_1["last_seen_at"], "frames": theirs, "caller1": end(1, theirs)["caller1"]}],
        "other_reports": 14, "acts": [{"act": 7, "kind": "merge", "what": "H-2", "into": "H-1", "author": "kim",
                                       "reason": "both sort the whole keyspace", "at": "2026-11-20T09:12:00Z", "undone_at": None,
                                       "undone_by": "", "undone_why": ""}]}
    yield "health", {"status": "ok", "database": "ok", "version": "0.1.0"}
    yield "sendReport", {"report_id": w.hangs[-1]["report_id"]}
    yield "uploadSymbols", {"build_id": "5eed0c1f2b7a49d08e6f1122334455667788d691", "kind": "debug", "arch": "x86_64",
                            "name": "redis-server.debug", "size_bytes": 4718592}
    everything = {name: {"probability": 1} for name in ("hang", "memory", "exit", "session")}
    public = {"hang": {"probability": 0.05}, "memory": {"probability": 0.01, "parameters": {"mode": "sampled", "interval_bytes": 524288}},
              "exit": {"probability": 0.1}, "session": {"probability": 0.1}}
    made = [{"version": 2, "made_at": "2026-11-20T09:12:00Z", "author": "kim", "reason": "hangs of 8.0.38 need more samples"},
            {"version": 1, "made_at": "2026-11-18T16:40:00Z", "author": "kim", "reason": "kiosks report everything"}]
    yield "getRollout", made[0] | {"rules": {"fetch_s": 3600, "kill": False, "rules": [
        {"name": "kiosks", "when": {"versions": {"from": "8.0"}, "classes": ["512mb", "1gb"]}, "plugins": everything},
        {"name": "inside", "when": {"channels": ["gray", "internal"]}, "plugins": everything},
        {"name": "public", "when": {}, "plugins": public}]}, "history": made, "ramps": [
            {"plugin": "hang", "rule": "public", "author": "kim", "steps_ppm": [20000, 50000, 200000], "before_ppm": 10000, "hold_s": 86400,
             "crash_points": 0.1, "cpu_percent": 1, "reports_per_hour": 0, "backs": True, "state": "running", "step": 1,
             "step_since": "2026-11-20T09:12:00Z", "note": "holds for 312 more minutes"}]}
    def rates(records, scale, lag, hang, foom):
        return {"records": records, "sessions": records * scale, "hours": records * scale * 0.5, "ends": records * scale * 0.9,
                "lag_percent": lag, "hang_s_per_hour": hang, "foom_percent": foom, "watchdog_percent": {"value": 0.2, "low": 0.1, "high": 0.4},
                "crash_percent": {"value": 0.5, "low": 0.3, "high": 0.8}, "sdk_cpu_percent": 0.04}
    def rate(value, low, high):
        return {"value": value, "low": low, "high": high}
    days = [{"day": f"2026-11-{day}T00:00:00Z"} | rates(2000, 10, rate(2.1, 0.9, 4.8), rate(3.2, 1.1, 5.3), rate(0.7, 0.4, 1.2)) for day in (19, 20)]
    whole = rates(4000, 10, rate(2.1, 1.2, 3.6), rate(3.2, 1.7, 4.7), rate(0.7, 0.5, 1.0))
    yield "getRates", {"range": {"from": "2026-11-07T00:00:00Z", "to": "2026-11-22T00:00:00Z"}, "total": whole,
                       "versions": [{"version": "8.0.38"} | whole | {"days": days}],
                       "losses": [{"reason": "annealed", "count": 214}, {"reason": "full", "count": 12}, {"reason": "refused", "count": 1}]}
    yield "getRates.empty", {"range": {"from": "2026-11-07T00:00:00Z", "to": "2026-11-22T00:00:00Z"}, "total": {
        "records": 0, "sessions": 0, "hours": 0, "ends": 0, "lag_percent": None, "hang_s_per_hour": None, "foom_percent": None,
        "watchdog_percent": None, "crash_percent": None, "sdk_cpu_percent": None}, "versions": [], "losses": []}
    yield "askRollout", {"mire_rollout": 1, "version": 2, "fetch_s": 3600, "kill": False, "plugins": {
        "hang": {"ppm": 50000}, "memory": {"ppm": 10000, "parameters": {"mode": "sampled", "interval_bytes": 524288}},
        "exit": {"ppm": 100000}, "session": {"ppm": 100000}}}
    yield "beginRamp", {"version": 3}
    yield "actOnRamp", {"version": 3}
    yield "changeRollout", {"version": 3}
    yield "undoRollout", {"version": 4}
    yield "problem.no-such-issue", {"type": "about:blank", "title": "Not found", "status": 404,
                                    "detail": "App redis has no issue H-999.", "request_id": "b1946ac92492d234"}
    yield "problem.parameter", {"type": "about:blank", "title": "Bad request", "status": 400,
                                "detail": "Parameter t is \"yesterday\"; allowed are 30m, 24h, 14d or FROM..TO in UTC, "
                                          "such as 2026-11-01T00Z..2026-11-08T00Z.", "request_id": "591785b794601e21"}


def folded(memory):
    """Stacks as nodes of one trie."""
    places, nodes, known = [], [], {}

    def node(frames):
        at = 0
        for f in reversed(frames):
            if f not in places:
                places.append(f)
            key = at, places.index(f)
            if key not in known:
                nodes.append(key)
                known[key] = len(nodes)
            at = known[key]
        return at

    stacks = [{**{k: v for k, v in s.items() if k != "frames"}, "node": node(s["frames"])} for s in memory["stacks"]]
    return {**memory, "stacks": stacks, "places": places,
            "nodes": {"parent": [p for p, _ in nodes], "place": [x for _, x in nodes]}}


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
