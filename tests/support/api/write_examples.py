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
    yield "getFlame", w.flame("redis", 1, span)
    yield "getFlame.threads", w.flame("stalls", 9, span)
    yield "health", {"status": "ok", "database": "ok", "version": "0.1.0"}
    yield "sendReport", {"report_id": w.hangs[-1]["report_id"]}
    yield "uploadSymbols", {"build_id": "5eed0c1f2b7a49d08e6f1122334455667788d691", "kind": "debug", "arch": "x86_64",
                            "name": "redis-server.debug", "size_bytes": 4718592}
    yield "problem.no-such-issue", {"type": "about:blank", "title": "Not found", "status": 404,
                                    "detail": "App redis has no issue H-999.", "request_id": "b1946ac92492d234"}
    yield "problem.parameter", {"type": "about:blank", "title": "Bad request", "status": 400,
                                "detail": "Parameter t is \"yesterday\"; allowed are 30m, 24h, 14d or FROM..TO in UTC, "
                                          "such as 2026-11-01T00Z..2026-11-08T00Z.", "request_id": "591785b794601e21"}


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
