#!/usr/bin/python3
"""Every GET of openapi.yaml on a real PostgreSQL: each answer equals the twin's and is what the OpenAPI file says.

Without arguments: the fixed world of the examples, then random worlds with names nobody expects.
"""

import copy
import datetime as dt
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import urllib.parse

SOURCE = pathlib.Path(os.environ.get("MIRE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = pathlib.Path(os.environ.get("MIRE_BINARY_DIR", SOURCE / "build/release"))
sys.path[:0] = [str(SOURCE / "tests/support/api"), str(SOURCE / "tests/structure")]
sys.dont_write_bytecode = True

import examples  # noqa: E402
import rows  # noqa: E402
import scenario  # noqa: E402
import twin  # noqa: E402
import yaml  # noqa: E402

DOCUMENT = yaml.safe_load((SOURCE / "schema/api/openapi.yaml").read_text())
SCHEMAS = {name: examples.validator(DOCUMENT, ref) for name, ref in examples.schemas(DOCUMENT).items()}
TEMPLATE = "std::__detail::_Map_base<" + ", ".join(["std::pair<unsigned long const, std::vector<int>>"] * 6) + ">::at"
NAMES = [TEMPLATE, "渲染页面", "\u202eevil\u202c", "<script>alert(1)</script>", "a\"b\\c\t`d`", "f\u0301é", "''; DROP TABLE app", "%s%n"]
SOME = 4  # pairs of a span and a filter that are compared in a world beyond the first
checks = 0


class Probe:
    def __init__(self, now, web_dir, **env):
        self.valid = set()
        binary = BINARY / "tests/integration/api_probe"
        self.process = subprocess.Popen([binary, str(int(now.timestamp() * 1_000_000)), web_dir], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=os.environ | env)
        self.conninfo = self.process.stdout.readline().decode().strip()

    def roll_up(self):
        """Make the rollups of the events in the tables; the next answer is of these."""
        self.process.stdin.write(b"ROLLUP\n")
        self.process.stdin.flush()

    def ask(self, target, headers=()):
        self.process.stdin.write("\t".join([target, *headers]).encode() + b"\n")
        self.process.stdin.flush()
        status, length = self.process.stdout.readline().split()
        found = {}
        while (line := self.process.stdout.readline().decode().rstrip("\n")):
            name, value = line.split(": ", 1)
            found[name] = value
        return int(status), found, self.process.stdout.read(int(length))

    def get(self, operation, target):
        status, headers, body = self.ask(target)
        assert status == 200, (target, status, body[:400])
        assert headers["Content-Type"] == "application/json"
        value = json.loads(body)
        if (operation, body) not in self.valid:  # the same answer need not be checked again
            for error in SCHEMAS[operation].iter_errors(value):
                raise AssertionError(f"{target}: {error.json_path}: {error.message}")
            self.valid.add((operation, body))
        again = self.ask(target, [f"If-None-Match: {headers['ETag']}"])
        assert again[0] == 304 and again[2] == b"" and again[1]["ETag"] == headers["ETag"], (target, again)
        return value

    def ask_post(self, target, body, content="application/json"):
        return self.ask("POST " + target, [f"Content-Type: {content}", json.dumps(body)])

    def post(self, operation, target, body):
        status, _, answer = self.ask_post(target, body)
        assert status == 200, (target, status, answer[:400])
        value = json.loads(answer)
        for error in SCHEMAS[operation].iter_errors(value):
            raise AssertionError(f"{target}: {error.json_path}: {error.message}")
        return value

    def refused(self, status, target, *words):
        got, headers, body = self.ask(target)
        assert got == status and headers["Content-Type"] == "application/problem+json", (target, got, body)
        problem = json.loads(body)
        assert not list(SCHEMAS["problem"].iter_errors(problem)), problem
        for word in words:
            assert word in problem["detail"], (target, problem)

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def same(got, want, where="$"):
    """Equal, but for floating-point dust."""
    global checks
    checks += 1
    if isinstance(want, bool) or want is None or isinstance(want, str):
        assert got == want, f"{where}: {got!r}, should be {want!r}"
    elif isinstance(want, (int, float)):
        assert got is not None and abs(got - want) <= 2e-3 * max(1, abs(want) * 1e-3), f"{where}: {got!r}, should be {want!r}"
    elif isinstance(want, list):
        assert len(got) == len(want), f"{where}: {len(got)} elements, should be {len(want)}"
        for n, (a, b) in enumerate(zip(got, want)):
            same(a, b, f"{where}[{n}]")
    else:
        assert got.keys() == want.keys(), f"{where}: {sorted(got)} should be {sorted(want)}"
        for k in want:
            same(got[k], want[k], f"{where}.{k}")


def named(flame):
    """A flame graph without its tables."""
    f = copy.deepcopy(flame)
    for column, table in (("name", "names"), ("image", "images"), ("role", "roles")):
        f[column] = [f[table][n] for n in f[column]]
        del f[table]
    return f


def paged(probe, operation, target, key, limit):
    """All pages of a list as one answer."""
    whole, cursor = None, None
    while True:
        page = probe.get(operation, target + f"&limit={limit}" + (f"&cursor={cursor}" if cursor else ""))
        if whole is None:
            whole = page
        else:
            assert len(page[key]) <= limit and page["total"] == whole["total"]
            whole[key] += page[key]
        cursor = page["next"]
        if cursor is None:
            whole["next"] = None
            return whole


def compare(probe, w, slug, rng, some=9):
    """Every answer about an app, for `some` of nine pairs of a span and a filter by version."""
    spans = [(14, "14d"), (1, "24h"), (2, "48h")]
    names = sorted({w.version(h) for h in w.select(slug, w.span(14))}) or ["1.0"]
    filters = [None, [rng.choice(names)], ["!" + rng.choice(names)]]
    for (days, t), v in rng.sample(list(itertools.product(spans, filters)), some):
        span = w.span(days)
        q = f"?t={t}" + ("&v=" + urllib.parse.quote(",".join(v)) if v else "")
        base = f"/api/v1/apps/{slug}"
        kind = rng.choice([None, ["hang"], ["!hang"], ["killed", "launch"], ["foom", "memory"], ["test"], ["power", "test"]])
        k = f"&kind={','.join(kind)}" if kind else ""
        same(probe.get("getOverview", base + "/overview" + q + k), w.overview(slug, span, v, kind))
        by, sort = rng.choice(["caller1", "category", "place"]), rng.choice(["impact", "events", "devices", "longest", "last", "bytes", "above", "title"])
        sort = rng.choice(["", "-"]) + sort
        state = rng.choice([None, ["open"], ["!ignored"]])
        s = f"&state={','.join(state)}" if state else ""
        same(paged(probe, "listIssues", base + f"/issues{q}{k}{s}&by={by}&sort={sort}", "groups", rng.choice([1, 2, 50])),
             w.issue_list(slug, span, by, sort, v, kind, state))
        for issue_id in sorted({h["issue_id"] for h in w.select(slug, span, v)}):
            issue = f"{base}/issues/{w.name(issue_id)}"
            same(probe.get("getIssue", issue + q), w.issue(slug, issue_id, span, v))
            own, listed = w.reports(slug, issue_id, span, v)
            if w.issues[issue_id]["subject"]:
                compare_memory(probe, w, slug, issue_id, span, v, q, rng)
            same(paged(probe, "listReports", issue + "/reports" + q, "reports", rng.choice([3, 200])), listed)
            for which in ["latest", "first", "worst", rng.choice(own)["report_id"]]:
                got = probe.get("getReport", f"{issue}/reports/{which}{q}")
                same(got, w.report(slug, issue_id, which, span, v))
            same(named(probe.get("getFlame", issue + "/flame" + q)), named(w.flame(slug, issue_id, span, v)))
            one = rng.choice(own)["report_id"]
            same(named(probe.get("getFlame", f"{issue}/flame{q}&report={one}")),
                 named(w.flame(slug, issue_id, span, v, report=one)) | {"reports_total": 1})
    same(probe.get("getFacets", f"/api/v1/apps/{slug}/facets"), w.facets(slug, w.span(14)))


def unfolded(memory):
    """A report of memory with stacks as lists of frames."""
    m = copy.deepcopy(memory)
    parent, location = [0] + m["nodes"]["parent"], [0] + m["nodes"]["location"]
    for s in m["stacks"]:
        frames, node = [], s.pop("node")
        while node:
            assert parent[node] < node
            frames.append(m["locations"][location[node]])
            node = parent[node]
        s["frames"] = frames
    del m["nodes"], m["locations"]
    return m


def compare_memory(probe, w, slug, issue_id, span, v, q, rng):
    base, issue = f"/api/v1/apps/{slug}", f"/api/v1/apps/{slug}/issues/{w.name(issue_id)}"
    own, _ = w.reports(slug, issue_id, span, v)
    for which in ["latest", "first", "worst", rng.choice(own)["report_id"]]:
        got = probe.get("getMemory", f"{issue}/reports/{which}/memory{q}")
        same(unfolded(got), w.memory(slug, issue_id, which, span, v))
    same(probe.get("getIssueMemory", f"{issue}/memory{q}"), w.issue_memory(slug, issue_id, span, v))
    choice = f"?v={urllib.parse.quote(','.join(v))}" if v else "?class=4gb"
    same(probe.get("getHealthy", base + "/healthy" + choice), w.healthy(slug, v, None if v else "4gb"))
    for system in "linux", "ios":
        same(probe.get("getHealthy", f"{base}/healthy?os={system}"), w.healthy(slug, system=system))
    same(named(probe.get("getFlame", f"{issue}/flame{q}&of=objects")), named(w.flame(slug, issue_id, span, v, of="objects")))
    name = w.issues[issue_id]["subject"]
    same(named(probe.get("getFlame", f"{issue}/flame{q}&category={urllib.parse.quote(name)}")),
         named(w.flame(slug, issue_id, span, v, category=name)))


def hostile(seed):
    """The fixed world with other names, weights and times; one issue has a single report, one none in the range."""
    rng = random.Random(seed)
    world = scenario.world(seed)
    apps, versions, issues, events, baselines = world
    names = {}
    for i in issues:
        for key in ("caller1", "caller2", "caller1_image"):
            i[key] = names.setdefault(i[key], rng.choice(NAMES) + str(len(names)))
    for h in events:
        h["weight"] = rng.choice([1.0, 2.0, 12.5, 50.0])
        h["model"], h["process"] = rng.choice(NAMES), rng.choice(NAMES[1:])
        h["unresolved_count"] = rng.randrange(h["frame_count"] + 1)
        for f in h["doc"]["frames"]:
            f["function"] = names.setdefault(f["function"], rng.choice(NAMES) + str(len(names)))
    for b in baselines:
        b["weight"] = rng.choice([1.0, 4.0, 12.5])
    for v in versions:
        v["version"] = rng.choice(["", "1.", "版本", "<b>"]) + v["version"]
    return world


def aliased(seed):
    """The hostile world with trees, a merge in each of two apps, and trees split off a merged issue and off one that is
    nobody else's. Returns the world and how its issues are shown."""
    rng = random.Random(seed)
    world = hostile(seed)
    apps, versions, issues, events, baselines = world
    for h in events:
        h["tree"] = rng.choice([0, 5, -7, 2**31 - 1])
    by_id = {i["issue_id"]: i for i in issues}
    merges, splits = {2: 1, 3: 1, 7: 6}, {(2, 5): 90, (4, -7): 91, (11, 5): 92}
    for (issue, tree), into in splits.items():
        head = by_id[merges.get(issue, issue)]
        first = min((h for h in events if h["issue_id"] == issue and h["tree"] == tree), key=lambda h: h["occurred_at"])
        issues.append(head | {"issue_id": into, "split_from": head["issue_id"], "first_seen": first["occurred_at"],
                              "first_version_id": first["version_id"]})
    return world, merges, splits


def shown(merges, splits):
    """A check: put what is merged and split into the tables as alias.c would, and compare everything again."""
    def check(probe, w):
        app = lambda issue: w.issues[issue]["app_id"]
        shown = {(issue, 0): into for issue, into in merges.items()} | splits
        shown |= {(into, 0): into for into in shown.values()}
        shown |= {(issue, 0): issue for issue, tree in splits if (issue, 0) not in shown}
        values = ",".join(f"({app(issue)},{issue},{tree},{into})" for (issue, tree), into in shown.items())
        subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", "-d", probe.conninfo, "-c",
                        f"INSERT INTO issue_shown (app_id, issue_id, tree, shown_id) VALUES {values}"], check=True)
        now = w.shown(merges, splits)
        rng = random.Random(7)
        for slug in ("redis", "stalls", "mapview"):
            compare(probe, now, slug, rng, SOME)
        for issue, into in merges.items():
            slug = next(a["slug"] for a in w.apps if a["app_id"] == app(issue))
            same(probe.get("getIssue", f"/api/v1/apps/{slug}/issues/I-{issue}"), now.issue(slug, into, now.span()))
            assert probe.ask(f"/i/I-{issue}")[1]["Location"] == f"/{slug}/issues/I-{into}"
            listed = probe.get("listIssues", f"/api/v1/apps/{slug}/issues?q=I-{issue}%20")["groups"]
            assert f"I-{into}" in [f["id"] for g in listed for f in g["issues"]], listed
        for h in [h for h in now.events if h["issue_id"] in (1, 90)][:20]:
            slug, name = "redis", now.name(h["issue_id"])
            assert probe.ask(f"/r/{h['report_id']}")[1]["Location"] == f"/{slug}/issues/{name}/reports/{h['report_id']}"
    return check


def doors(probe, w):
    """What is refused, and how it is said."""
    base = "/api/v1/apps/redis"
    probe.refused(404, "/api/v1/apps/nosuch/overview", "nosuch")
    probe.refused(404, base + "/issues/I-999", "I-999")
    probe.refused(404, base + "/issues/I-6", "I-6")
    probe.refused(404, base + "/issues/X", "I-1042")
    probe.refused(404, base + "/issues/I-1/memory", "memory")
    probe.refused(404, base + "/issues/I-1/reports/latest/memory", "not about memory")
    probe.refused(404, "/api/v1/apps/mapview/issues/M-11/reports/yesterday/memory", "latest")
    probe.refused(400, base + "/issues/I-1/flame?of=bytes", "ms")
    probe.refused(400, "/api/v1/apps/mapview/issues/M-11/flame?of=ms", "objects")
    probe.refused(404, base + "/issues/I-1/reports/yesterday", "latest")
    probe.refused(404, base + "/issues/I-1/reports/00000000-0000-7000-8000-000000000000")
    probe.refused(404, base + "/issues/I-1/flame?root=0123456789abcdef", "0123456789abcdef")
    probe.refused(404, "/api/v1/nothing")
    probe.refused(400, base + "/overview?t=yesterday", "t is", "24h")
    probe.refused(400, base + "/overview?colour=red", "colour", "kind")
    probe.refused(400, base + "/overview?t=1d&t=2d", "twice")
    probe.refused(400, base + "/overview?kind=crashed", "kind", "launch")
    probe.refused(400, base + "/issues?sort=size", "sort", "-impact")
    probe.refused(400, base + "/issues?by=name", "caller1")
    probe.refused(400, base + "/issues?limit=0", "1 to 200")
    probe.refused(400, base + "/issues?limit=201")
    probe.refused(400, base + "/issues?state=shut", "resolved")
    probe.refused(400, base + "/issues?q=" + "x" * 201, "200")
    probe.refused(400, base + "/issues?cursor=zzz", "cursor")
    probe.refused(400, base + "/issues/I-1/flame?max=9", "200000")
    probe.refused(400, base + "/issues/I-1/flame?root=xyz", "16 hex")
    first = probe.get("listIssues", base + "/issues?limit=1")
    probe.refused(400, base + f"/issues?limit=1&sort=title&cursor={first['next']}", "cursor")
    found = probe.get("listIssues", base + "/issues?q=KEYSCOMMAND%20exec")
    assert [f["id"] for g in found["groups"] for f in g["issues"]] == ["I-4"], found
    assert probe.get("listIssues", base + "/issues?q=i-3")["issues_total"] == 1
    assert probe.get("listIssues", base + "/issues?q=%25")["issues_total"] == 0
    same(probe.get("listApps", "/api/v1/apps"), w.apps_list())
    whole = probe.get("getFlame", base + "/issues/I-1/flame")
    folded = probe.get("getFlame", base + "/issues/I-1/flame?max=12")
    assert len(folded["name"]) <= 12 and folded["value"][0] == whole["value"][0] and "other" in folded["names"]
    past = "?t=2020-01-01..2020-01-02"
    quiet = probe.get("getIssue", base + "/issues/I-1" + past)
    assert quiet["issue"]["totals"]["reports"] == quiet["p95_ms"] == 0 and quiet["durations"] == [] == quiet["series"]
    assert probe.get("listReports", base + "/issues/I-1/reports" + past)["total"] == 0
    assert probe.get("getFlame", base + "/issues/I-1/flame" + past)["value"] == [0]
    probe.refused(404, base + "/issues/I-1/reports/latest" + past, "range")
    child = whole["hash"][5]
    part = probe.get("getFlame", base + f"/issues/I-1/flame?root={child}")
    assert part["hash"][0] == child and part["value"][0] == whole["value"][5] and part["parent"][0] == -1


def regroup(probe, w):
    """Merging, splitting and undoing through the API: previews change nothing, acts do what they said, undoing restores."""
    base = "/api/v1/apps/redis/issues"
    who = {"author": "kim", "reason": "one bug"}
    lists = lambda: [probe.get("listIssues", base), probe.get("getIssue", base + "/I-1"), probe.get("getIssue", base + "/I-2"),
                     probe.get("getOverview", "/api/v1/apps/redis/overview"), probe.get("getFacets", "/api/v1/apps/redis/facets")]
    before = lists()
    own = {i: sum(h["issue_id"] == i for h in w.events) for i in (1, 2, 3)}

    similar = probe.get("getSimilar", base + "/I-2/similar")
    hits = {s["issue"]["id"]: s for s in similar["suggestions"]}
    assert "I-1" in hits and "I-2" not in hits, hits.keys()
    for s in hits.values():
        assert abs(sum(a["weight"] for a in s["aligned"]) - s["likeness"]) < 0.01, s
        assert s["suggested"] == (s["score"] >= similar["suggested_from"])
        for a in s["aligned"]:
            assert s["ours"]["frames"][a["ours"]]["function"] == s["theirs"]["frames"][a["theirs"]]["function"]
    assert [s["score"] for s in similar["suggestions"]] == sorted((s["score"] for s in similar["suggestions"]), reverse=True)
    assert probe.get("getSimilar", base + "/I-5/similar")["suggestions"] == []  # has no stack to compare by

    for operation, path, body in (("mergeIssues", "/I-1/merge", {"issues": ["I-2", "I-3"]}),
                                  ("splitIssue", "/I-1/split", {"trees": ["I-1.00000005"]})):
        preview = probe.post(operation, base + path, who | body | {"preview": True})
        assert preview["preview"] and preview["act"] is None
        assert lists() == before, "a preview changed something"
        done = probe.post(operation, base + path, who | body)
        assert done["act"] and not done["preview"]
        told = lambda answer: [[(f["totals"], f["members"]) for f in answer[k]] for k in ("before", "after")] + [answer["reports"]]
        assert told(done) == told(preview)
        assert lists() != before
        parts = probe.get("getProvenance", base + "/I-1/provenance")
        assert parts["acts"][0]["author"] == "kim" and parts["acts"][0]["undone_at"] is None
        if operation == "mergeIssues":
            assert done["reports"] == own[2] + own[3]
            assert [(f["id"], f["totals"]["reports"], f["members"]) for f in done["after"]] == [("I-1", sum(own.values()), 3)]
            assert {m["id"]: m["reports"] for m in parts["members"]} == {"I-1": own[1], "I-2": own[2], "I-3": own[3]}
            assert "I-2" not in [s["issue"]["id"] for s in probe.get("getSimilar", base + "/I-3/similar")["suggestions"]]
            same(probe.get("listIssues", base), w.shown({2: 1, 3: 1}, {}).issue_list("redis", w.span()))
            assert probe.ask_post(base + "/I-2/merge", who | {"issues": ["I-3"]})[0] == 409
        else:
            opened = next(f for f in done["after"] if f["id"] != "I-1")
            five = sum(h["issue_id"] == 1 and h["tree"] == 5 for h in w.events)
            assert opened["split_from"] == "I-1" and opened["totals"]["reports"] == five == done["reports"]
            assert probe.get("getIssue", base + "/I-1")["issue"]["totals"]["reports"] == own[1] - five
            assert probe.ask_post(base + "/I-1/split", who | body)[0] == 422
        undone = probe.post("unmergeIssues", base + "/I-1/unmerge", {"author": "lee", "reason": "they differ", "act": done["act"]})
        assert undone["reports"] == done["reports"]
        assert lists() == before, "undoing left something behind"
        last = probe.get("getProvenance", base + "/I-1/provenance")["acts"][0]
        assert (last["undone_by"], last["undone_why"]) == ("lee", "they differ") and last["undone_at"]
        assert probe.ask_post(base + "/I-1/unmerge", who | {"act": done["act"]})[0] == 409

    parts = probe.get("getProvenance", base + "/I-1/provenance")
    assert {t["id"]: t["reports"] for t in parts["trees"]} == {
        f"I-1.{t & 0xffffffff:08x}": sum(h["issue_id"] == 1 and h["tree"] == t for h in w.events) for t in (5, -7)}
    assert parts["other_reports"] == sum(h["issue_id"] == 1 and h["tree"] == 0 for h in w.events)
    assert all(t["frames"][t["caller1"]]["function"] == "keysCommand" for t in parts["trees"])

    # By scene: what was merged with another Caller2 comes out again.
    probe.post("mergeIssues", base + "/I-1/merge", who | {"issues": ["I-4"]})
    assert probe.ask_post(base + "/I-1/split", who | {"caller2": w.issues[1]["caller2"]})[0] == 422
    probe.post("splitIssue", base + "/I-1/split", who | {"caller2": w.issues[4]["caller2"]})
    assert lists() == before

    for status, path, body in ((422, "/I-1/merge", who | {"issues": ["I-999"]}), (422, "/I-1/merge", who | {"issues": ["x"]}),
                               (422, "/I-1/merge", {"issues": ["I-2"]}), (422, "/I-1/merge", {"author": "", "reason": "", "issues": ["I-2"]}),
                               (409, "/I-1/merge", who | {"issues": ["I-1"]}), (422, "/I-1/split", who),
                               (422, "/I-1/split", who | {"trees": ["I-1.0"]}), (422, "/I-1/split", who | {"trees": ["I-2.00000005"]}),
                               (422, "/I-1/unmerge", who), (404, "/I-1/unmerge", who | {"act": 999}),
                               (409, "/I-1/unmerge", who | {"issues": ["I-2"]}), (404, "/I-6/merge", who | {"issues": ["I-1"]})):
        got = probe.ask_post(base + path, body)
        assert got[0] == status, (path, body, got)
    assert probe.ask_post(base + "/I-1/merge", who | {"issues": ["I-2"]}, "text/plain")[0] == 415
    assert probe.ask("POST " + base + "/I-1/merge", ["Content-Type: application/json", "{"])[0] == 400
    assert lists() == before


def lost(probe, w):
    """Stacks that are gone or cannot be read cost their own report only."""
    own = [h["report_id"] for h in w.events if h["issue_id"] == 2]
    subprocess.run(["psql", "-qX", "-d", probe.conninfo, "-c", f"DELETE FROM event_stack WHERE report_id = '{own[-1]}'", "-c",
                    f"UPDATE event_stack SET document = 'x' WHERE report_id = '{own[-2]}'"], check=True)
    flame = probe.get("getFlame", "/api/v1/apps/redis/issues/I-2/flame")
    assert (flame["reports"], flame["reports_total"]) == (len(own) - 2, len(own)), flame["reports"]
    assert flame["reports_unreadable"] == 2
    for report in own[-2:]:
        got = probe.get("getReport", f"/api/v1/apps/redis/issues/I-2/reports/{report}")
        assert got["row"]["id"] == report and got["row"]["duration_ms"] > 0
        assert got["samples"]["stacks"] == got["hot"]["frames"] == got["threads"] == [] and got["caller1"] is None
        assert got["facts"][0]["name"] == "Stacks" and "cannot be read" in got["facts"][0]["value"], got["facts"]
    assert probe.ask("/i/I-2.md")[0] == 200


def dropped(probe, w):
    """Counters outlive reports: the answer says since when devices are known."""
    whole = probe.get("listIssues", "/api/v1/apps/redis/issues")
    cut = w.now - dt.timedelta(days=7)
    kept = [h for h in w.select("redis", w.span(14)) if h["occurred_at"] >= cut]
    subprocess.run(["psql", "-qX", "-d", probe.conninfo, "-c", f"DELETE FROM event WHERE occurred_at < '{cut.isoformat()}'"], check=True)
    probe.roll_up()
    oldest, devices = twin.stamp(min(h["occurred_at"] for h in kept)), len({h["install"] for h in kept})
    for operation, target in (("listIssues", "issues"), ("getOverview", "overview")):
        got = probe.get(operation, "/api/v1/apps/redis/" + target)
        assert got["totals"] == whole["totals"] | {"devices": devices}, got["totals"]
        assert got["range"]["kept_from"] == oldest, got["range"]
        assert "kept_from" not in probe.get(operation, f"/api/v1/apps/redis/{target}?t=24h")["range"]
    own = [h for h in kept if h["issue_id"] == 1]
    got = probe.get("getIssue", "/api/v1/apps/redis/issues/I-1")
    assert got["issue"]["totals"]["devices"] == len({h["install"] for h in own})
    assert got["range"]["kept_from"] == twin.stamp(min(h["occurred_at"] for h in own))


def late(probe, w):
    """How complete recent days are: the server's sums against a count of single arrivals."""
    rng = random.Random(5)
    app, today = next(a["app_id"] for a in w.apps if a["slug"] == "kiosk"), twin.begin(w.now)
    for kind, operation, target in (("event", "getOverview", "overview"), ("session", "getRates", "rates")):
        assert probe.get(operation, f"/api/v1/apps/kiosk/{target}")["completeness"] == []
        known, sums = [], {}
        for _ in range(3000):
            happened = w.now - dt.timedelta(hours=rng.uniform(0, 70 * 24))
            delay = rng.choice([0, rng.uniform(0, 3), rng.expovariate(1 / 40)])
            if happened + dt.timedelta(hours=delay) > w.now:
                continue
            known.append((twin.begin(happened), delay, 2))
            key = rng.randrange(64), known[-1][0].date().isoformat(), app, kind, min(int(delay).bit_length(), 12)
            sums[key] = sums.get(key, 0) + 2
        script = rows.copy("arrival_day", "slot,day,app_id,kind,delay,events", [(*k, v) for k, v in sums.items()])
        subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", "-d", probe.conninfo], input=script, text=True, check=True)
        got = probe.get(operation, f"/api/v1/apps/kiosk/{target}")["completeness"]
        same(got, twin.completeness(known, w.span(14), w.now))
        assert len(got) > 3 and got[-1]["day"] == twin.stamp(today) and got[-1]["share"] < got[0]["share"], got


def links(probe, w):
    report = next(h for h in w.events if h["issue_id"] == 1)["report_id"]
    assert probe.ask("/i/I-1")[1]["Location"] == "/redis/issues/I-1"
    status, headers, _ = probe.ask(f"/r/{report}")
    assert status == 302 and headers["Location"] == f"/redis/issues/I-1/reports/{report}"
    probe.refused(404, "/i/I-999")
    probe.refused(404, "/r/x")
    assert probe.ask("/i/M-11")[1]["Location"] == "/mapview/memory/M-11"
    held = next(h for h in w.events if h["issue_id"] == 11)["report_id"]
    assert probe.ask(f"/r/{held}")[1]["Location"] == f"/mapview/memory/M-11/reports/{held}"
    text = probe.ask("/i/M-11.md")[2].decode()
    assert text.startswith("# M-11: `TileCache::insert(Key, Tile&&)`\n") and "/mapview/memory/M-11?t=" in text, text
    assert "Largest stack of `Malloc 48.00 KiB`" in text and "tiles.cc:118   <- Caller1" in text, text
    status, headers, body = probe.ask("/i/I-1.md")
    text = body.decode()
    assert status == 200 and headers["Content-Type"].startswith("text/markdown"), status
    assert text.startswith("# I-1: `keysCommand`\n") and "<- Caller1" in text and "processCommand" in text, text
    assert re.search(r"^- Events \d+, from \d+ reports of \d+ devices; p50", text, re.M), text
    assert re.search(r"^- (Version|First version): `[^`]+`\n(- Last version: `[^`]+`\n)?- Range", text, re.M), text


def files(probe, web):
    (web / "assets").mkdir()
    (web / "index.html").write_text("<!doctype html>hello")
    (web / "assets/app-1a2b.js").write_text("plain")
    (web / "assets/app-1a2b.js.br").write_text("brotli")
    (web / "assets/app-1a2b.js.gz").write_text("gzip")
    (web / "icon.svg").write_text("<svg/>")
    (web.parent / "secret.txt").write_text("secret")
    for path in ("/", "/redis", "/redis/issues/I-1", "/redis/versions/8.0.1"):
        status, headers, body = probe.ask(path)
        assert (status, body, headers["Cache-Control"]) == (200, b"<!doctype html>hello", "no-cache"), path
        assert headers["Content-Type"] == "text/html; charset=utf-8"
    for accept, want in (("br, gzip", b"brotli"), ("gzip", b"gzip"), ("br;q=0, gzip;q=0.5", b"gzip"), ("identity", b"plain")):
        status, headers, body = probe.ask("/assets/app-1a2b.js", [f"Accept-Encoding: {accept}"])
        assert status == 200 and body == want, (accept, body)
        assert headers["Cache-Control"].endswith("immutable") and headers["Content-Type"].startswith("text/javascript")
    assert probe.ask("/icon.svg")[1]["Content-Type"] == "image/svg+xml"
    assert probe.ask("/", [f"If-None-Match: {probe.ask('/')[1]['ETag']}"])[0] == 304
    for path in ("/assets/none.js", "/none.js", "/assets/", "/assets/.hidden", "/assets//app-1a2b.js", "/secret.txt"):
        assert probe.ask(path)[0] == 404, path
    for path in ("/../secret.txt", "/assets/../../secret.txt", "/assets/..%2f..%2fsecret.txt", "/%2e%2e/secret.txt", "/assets/%00"):
        status, _, body = probe.ask(path)
        assert status in (400, 404) and b"secret" != body, (path, status)


def run(world, seed, web, also=(), some=9):
    w = twin.World(*world, scenario.NOW)
    probe = Probe(scenario.NOW, str(web))
    try:
        rows.load(probe.conninfo, world)
        probe.roll_up()
        rng = random.Random(seed)
        for app in w.apps:
            compare(probe, w, app["slug"], rng, some)
        for check in also:
            check(probe, w)
    finally:
        code = probe.close()
    assert code == 0, f"probe ended with {code}"


def main():
    seed = int(os.environ.get("MIRE_SEED", 1))
    print(f"MIRE_SEED={seed}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        web = pathlib.Path(scratch, "web")
        web.mkdir()

        def unbuilt(probe, _):
            status, _, body = probe.ask("/redis")
            assert status == 503 and b"--web-dir web/dist" in body

        run(scenario.world(), seed, web, [doors, links, late, regroup, lost, dropped, unbuilt, lambda p, _: files(p, web)])
        world, merges, splits = aliased(seed)
        run(world, seed, web, [shown(merges, splits)], SOME)
    print(f"{checks} values agree")


if __name__ == "__main__":
    main()
