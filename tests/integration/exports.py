#!/usr/bin/python3
"""Exports of a real mired: tables as CSV are the lists of JSON, and each format of a flame graph tells the same weights by the same stacks."""

import collections
import csv
import io
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from mired import Mired, scratch, until  # noqa: E402
from protobuf import fields  # noqa: E402


def leaves(row, prefix=""):
    """Members of an object that are no lists, as columns have them."""
    for name, value in row.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{name}.")
        elif value is not None and not isinstance(value, list):
            yield prefix + name, value


def cell(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value if value[:1] and value[0] in "=+-@\t\r" else value
    return value


def check_table(mired, path, rows):
    both = "&" if "?" in path else "?"
    status, headers, body = mired.ask("GET", f"/api/v1{path}{both}format=csv")
    assert status == 200 and headers["Content-Type"] == "text/csv; charset=utf-8" and "attachment" in headers["Content-Disposition"], (path, status, body)
    table = list(csv.DictReader(io.StringIO(body.decode(), newline="")))
    rows = rows(mired.get(path))
    assert len(table) == len(rows), (path, len(table), len(rows))
    for seen, row in zip(table, rows):
        told = dict(leaves(row))
        assert {name for name, text in seen.items() if text} == {name for name, value in told.items() if value != ""}, (path, seen, told)
        for name, value in told.items():
            expected = cell(value)
            assert seen[name] == expected if isinstance(expected, str) else abs(float(seen[name]) - expected) <= 1e-9 * abs(expected) + 1e-12, (path, name, seen[name], value)
    return len(rows)


def check_tables(mired):
    issues = mired.issues("shop")
    id = issues[0]["id"]
    app, issue = "/apps/shop", f"/apps/shop/issues/{id}"
    for path, rows, least in ((f"{app}/issues?t=30d", lambda a: [i for g in a["groups"] for i in g["issues"]], 5),
                              (f"{app}/issues?t=30d&limit=2", lambda a: [i for g in a["groups"] for i in g["issues"]], 2),
                              (f"{issue}/reports?t=30d", lambda a: a["reports"], 1), (f"{app}/rates?t=30d", lambda a: a["versions"], 3),
                              (f"{app}/rates?t=30d&by=model", lambda a: a["values"], 3),
                              ("/apps", lambda a: a["apps"], 1), (f"{app}/changes?t=30d", lambda a: a["issues"], 0), (f"{issue}/activity", lambda a: a["acts"], 1),
                              (f"{app}/symbols", lambda a: a["missing"], 0), (f"{app}/keys", lambda a: a["keys"], 1), (f"{app}/members", lambda a: a["members"], 0),
                              (f"{app}/alerts/history", lambda a: a["alerts"], 0), (f"{app}/rollout", lambda a: a["history"], 0),
                              (f"{issue}/similar", lambda a: a["suggestions"], 0)):
        count = check_table(mired, path, rows)
        assert count >= least, (path, count)
    status, _, body = mired.ask("GET", f"/api/v1{app}/issues?format=xls")
    assert status == 400 and b"json, csv" in body, body
    assert mired.ask("GET", f"/api/v1{app}/start?format=csv")[0] == 400
    check_chosen(mired, app, issue)
    return id


def flat(path, inner):
    """The rows of the lists `inner` of a list, each with the members of the element around it."""
    return lambda a: [{**{k: v for k, v in one.items() if k != inner}, **{f"{inner}.{k}": v for k, v in row.items()}}
                      for one in a[path] for row in one[inner]]


def check_chosen(mired, app, issue):
    """Answers with several lists: table= says which."""
    for path, table, rows, least in ((f"{app}/overview?t=30d", None, lambda a: a["versions"], 1), (f"{app}/overview?t=30d", "series", flat("series", "points"), 3),
                                     (f"{app}/overview?t=30d", "top", lambda a: a["top"], 3), (f"{app}/overview?t=30d", "categories", lambda a: a["categories"], 1),
                                     (f"{issue}?t=30d", None, flat("distributions", "values"), 3), (f"{issue}?t=30d", "series", flat("series", "points"), 1),
                                     (f"{issue}?t=30d", "durations", lambda a: a["durations"], 1), (f"{app}/facets?t=30d", None, lambda a: a["version"], 1),
                                     (f"{app}/facets?t=30d", "kind", lambda a: a["kind"], 1), (f"{app}/rates?t=30d", "versions:days", flat("versions", "days"), 3),
                                     (f"{app}/rates?t=30d", "endings", lambda a: a["endings"], 0), (f"{app}/rates?t=30d&by=model", None, lambda a: a["values"], 3),
                                     (f"{app}/alerts", "rules", lambda a: a["rules"], 0), (f"{app}/alerts", None, lambda a: a["open"], 0),
                                     (f"{app}/rules", "packs", lambda a: a["packs"], 1), (f"{app}/forget", None, lambda a: a["jobs"], 0),
                                     (f"{app}/rekey", None, lambda a: a["jobs"], 0)):
        asked = f"{path}{'&' if '?' in path else '?'}table={table}" if table else path
        count = check_table(mired, asked, rows)
        assert count >= least, (asked, count)
    for path, wrong in ((f"{app}/overview?t=30d", "nosuch"), (f"{app}/overview?t=30d", "serie"), (f"{app}/overview?t=30d", ""), (f"{app}/keys?", "groups")):
        status, _, body = mired.ask("GET", f"/api/v1{path}&format=csv&table={wrong}")
        assert status == 400 and b"table" in body, (path, wrong, status, body)


def stacks_of(flame):
    """Weight by stack, outermost first, from the API's columns."""
    out = collections.Counter()
    for at in range(1, len(flame["parent"])):
        if flame["self"][at] <= 0:
            continue
        names, i = [], at
        while i > 0:
            names.append(flame["names"][flame["name"][i]])
            i = flame["parent"][i]
        out[tuple(reversed(names))] += flame["self"][at]
    return out


def pprof_stacks(data):
    strings, functions, locations, samples = [], {}, {}, []
    for field, value in fields(data):
        if field == 6:
            strings.append(value.decode())
        elif field == 5:
            function = dict(fields(value))
            functions[function[1]] = function[2]
        elif field == 4:
            location = dict(fields(value))
            locations[location[1]] = dict(fields(location[4]))[1]
        elif field == 2:
            samples.append(list(fields(value)))
    out = collections.Counter()
    for sample in samples:
        stack = [strings[functions[locations[v]]] for f, v in sample if f == 1]
        out[tuple(reversed(stack))] += next(v for f, v in sample if f == 2)
    return out, strings


def check_flame(mired, id):
    path = f"/apps/shop/issues/{id}/flame?t=30d"

    def exported(form):
        status, headers, body = mired.ask("GET", f"/api/v1{path}&format={form}")
        assert status == 200 and f'filename="{id}.' in headers["Content-Disposition"], (form, status, body[:200])
        return headers["Content-Type"], body

    truth = stacks_of(mired.get(path))
    total = sum(truth.values())
    assert total > 0 and len(truth) > 1, truth
    kind, body = exported("folded")
    folded = {tuple(stack.split(";")): int(weight) for stack, weight in (line.rsplit(" ", 1) for line in body.decode().splitlines())}
    assert kind.startswith("text/plain") and set(folded) == {s for s, w in truth.items() if round(w) >= 1}, (folded, truth)
    assert all(abs(folded[s] - truth[s]) <= 0.51 for s in folded), (folded, truth)

    kind, body = exported("speedscope")
    scope = json.loads(body)
    profile, frames = scope["profiles"][0], [frame["name"] for frame in scope["shared"]["frames"]]
    assert kind == "application/json" and profile["type"] == "sampled" and profile["unit"] == "milliseconds" and len(profile["samples"]) == len(profile["weights"])
    seen = collections.Counter()
    for sample, weight in zip(profile["samples"], profile["weights"]):
        seen[tuple(frames[i] for i in sample)] += weight
    assert seen.keys() == truth.keys() and all(abs(seen[s] - truth[s]) < 0.01 for s in seen) and abs(profile["endValue"] - total) < 1

    _, body = exported("pprof")
    seen, strings = pprof_stacks(body)
    assert strings[0] == "" and strings[2] == "milliseconds" and seen.keys() == set(folded), (seen, folded)
    assert all(abs(seen[s] - truth[s]) <= 0.51 for s in seen), (seen, truth)

    kind, body = exported("svg")
    svg = xml.etree.ElementTree.fromstring(body)
    space = {"s": "http://www.w3.org/2000/svg"}
    assert kind == "image/svg+xml" and not svg.findall(".//s:script", space)
    boxes = [(g.find("s:title", space).text, float(g.find("s:rect", space).get("x")), float(g.find("s:rect", space).get("width")), int(g.find("s:rect", space).get("y")))
             for g in svg.findall("s:g", space)]
    assert abs(boxes[0][2] - 1200) < 0.1 and len(boxes) >= len(truth), boxes
    for title, x, width, y in boxes[1:]:
        share = float(re.search(r"([\d.]+) %$", title)[1])
        assert abs(width / 12 - share) < 0.02, (title, width)
        assert any(b[3] == y - 18 and b[1] - 0.02 <= x and x + width <= b[1] + b[2] + 0.02 for b in boxes), f"{title} stands on nothing"
    for a in boxes:
        assert not any(b is not a and b[3] == a[3] and b[1] + 0.02 < a[1] + a[2] and a[1] + 0.02 < b[1] + b[2] for b in boxes), f"{a} overlaps"

    assert mired.ask("GET", f"/api/v1{path}&format=png")[0] == 400
    assert mired.mire("flame", id, "--app", "shop", "--t", "30d") == exported("folded")[1].decode()
    assert json.loads(mired.mire("flame", id, "--app", "shop", "--format", "speedscope"))["exporter"] == "mire"
    assert "json, folded" in mired.mire("flame", id, "--app", "shop", "--format", "png", code=1)
    return folded


def main():
    with scratch("exports") as name:
        mired = Mired(pathlib.Path(name))
        mired.mire("seed", "shop", "--reports", "400", "--days", "10", "--data-dir", mired.data)
        mired.key("shop", "read")
        until("the reports are worked on", lambda: mired.sql("SELECT count(*) FROM inbox")[0] == "0" and mired.issues("shop"))
        first = mired.issues("shop")[0]["id"]
        mired.mire("issue", first, "comment", "=1+2 \"quoted\",\nnext", "--app", "shop")
        id = check_tables(mired)
        assert id == first
        check_flame(mired, id)
        mired.stop()


if __name__ == "__main__":
    main()
