"""The API's answers computed the slow, plain way from a list of events: the twin the server is compared with."""

import datetime as dt
import copy
import hashlib
import math
import re

import memory
from rows import waited, whole

UTC = dt.timezone.utc
EDGES = [e * 10**k for k in range(0, 9) for e in (1, 1.5, 2, 3, 5, 7)]
EDGES = [0] + sorted({int(e) for e in EDGES if e == int(e)})
MASK = (1 << 64) - 1


def natural(version):
    """A key that puts 7.0.9 before 7.0.10: a number sorts like the digits 0 to 9 among other bytes."""
    runs = re.findall(rb"[0-9]+|[^0-9]", version.encode())
    return [(ord("0"), int(r)) if r.isdigit() else (r[0], 0) for r in runs], version


def stamp(t):
    return t.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def number(x):
    x = round(x, 3)
    return int(x) if x == int(x) else x


HOUR = dt.timedelta(hours=1)


def begin(t):
    return t.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def completeness(known, span, now):
    """Of (day, delay in hours, events), one by one: the chain ladder over delays of 1, 2, 4 ... 2048 hours."""
    known = [k for k in known if k[0] > begin(now) - dt.timedelta(days=60)]
    within, told = [1.0] * 12, False
    for n in range(11, 0, -1):
        old = [(delay, much) for day, delay, much in known if now - day - dt.timedelta(days=1) >= 2**n * HOUR]
        whole = sum(much for delay, much in old if delay < 2**n)
        told |= n == 7 and whole >= 50
        within[n - 1] = within[n] * (sum(much for delay, much in old if delay < 2 ** (n - 1)) / whole if whole else 1)

    def share(age):
        if age <= 1:
            return within[0] * age
        n = int(math.log2(age))
        return 1.0 if n >= 11 else within[n] + (math.log2(age) - n) * (within[n + 1] - within[n])

    rows, day = [], max(begin(span[0]), begin(now) - dt.timedelta(days=14))
    while told and day <= now and day < span[1]:
        ages = [age for age in ((now - day) / HOUR - n - 0.5 for n in range(24)) if age > 0]
        if ages and (mean := sum(map(share, ages)) / len(ages)) < 0.995:
            rows.append({"day": stamp(day), "share": number(mean)})
        day += dt.timedelta(days=1)
    return rows


class World:
    def __init__(self, apps, versions, issues, events, baselines, now):
        self.baselines = baselines
        self.apps, self.issues, self.events, self.now = apps, {i["issue_id"]: i for i in issues}, events, now
        self.versions = {v["version_id"]: v for v in versions}

    def shown(self, merges, splits):
        """The same world with issues shown as others: merges {issue: into}, splits {(issue, tree): into}."""
        w = copy.deepcopy(self)
        for h in w.events:
            h["issue_id"] = splits.get((h["issue_id"], h["tree"])) or merges.get(h["issue_id"], h["issue_id"])
        for head in set(merges.values()):
            own = [self.issues[i] for i in [head, *(m for m, into in merges.items() if into == head)]]
            first = min(own, key=lambda i: i["first_seen"])
            w.issues[head] |= {"first_seen": first["first_seen"], "first_version_id": first["first_version_id"], "members": len(own)}
        return w

    def version(self, h):
        return self.versions[h["version_id"]]["version"]

    def span(self, days=14):
        hour = dt.timedelta(hours=1)
        begin = (self.now - dt.timedelta(days=days)).replace(minute=0, second=0, microsecond=0)
        end = self.now.replace(minute=0, second=0, microsecond=0)
        return begin, end if end == self.now else end + hour

    def select(self, slug, span, v=None, kind=None, state=None):
        app = next(a["app_id"] for a in self.apps if a["slug"] == slug)
        return [h for h in self.events if h["app_id"] == app and span[0] <= h["occurred_at"] < span[1]
                and allowed(self.version(h), v) and allowed(self.issues[h["issue_id"]]["category"], kind)
                and allowed(self.issues[h["issue_id"]]["state"], state)]

    # Parts ---------------------------------------------------------------------------------------------------------

    def range(self, events, span):
        newest = max((h["occurred_at"] for h in events), default=span[0])
        return {"from": stamp(span[0]), "to": stamp(span[1]), "as_of": stamp(newest)}

    def trend(self, events, span):
        parts = [0] * 24
        for h in events:
            hour = h["occurred_at"].replace(minute=0, second=0, microsecond=0)
            parts[int((hour - span[0]) / (span[1] - span[0]) * 24)] += stands_for(h)
        return [number(p) for p in parts]

    def shares(self, events, key):
        keys = {key(h) for h in events}
        rows = []
        for k in keys:
            own = [h for h in events if key(h) == k]
            rows.append({"key": k, "reports": len(own), "events": number(sum(stands_for(h) for h in own))})
        return sorted(rows, key=lambda r: (-r["reports"], r["key"]))

    def series(self, events, bucket_s):
        rows = []
        for v in sorted({self.version(h) for h in events}, key=lambda v: (-sum(stands_for(h) for h in events if self.version(h) == v), v)):
            points = {}
            for h in events:
                if self.version(h) == v:
                    at = int(h["occurred_at"].timestamp()) // bucket_s * bucket_s
                    p = points.setdefault(at, [0, 0])
                    p[0] += stands_for(h)
                    p[1] += h["weight"] * waited(h)[1]
            rows.append({"key": v, "points": [{"at": stamp(dt.datetime.fromtimestamp(at, UTC)), "events": number(p[0]),
                                               "waited_ms": number(p[1])} for at, p in sorted(points.items())]})
        return rows

    def name(self, issue_id):
        return f"{'M' if self.issues[issue_id]['subject'] else 'I'}-{issue_id}"

    def summary(self, issue_id, events, span):
        i = self.issues[issue_id]
        own = [h for h in events if h["issue_id"] == issue_id]
        seen = sorted({self.version(h) for h in own} | {self.versions[i["first_version_id"]]["version"]}, key=natural)
        return {"id": self.name(issue_id), "caller1": i["caller1"], "caller1_image": i["caller1_image"],
                "caller1_location": i["caller1_location"], "caller2": i["caller2"], "caller2_image": i["caller2_image"],
                "category": i["category"], "reason": i["reason"], "subject": i["subject"], "state": i["state"],
                "state_version": i.get("state_version", ""), "assignee": i.get("assignee", ""), "most_bytes": max((h["subject_bytes"] or 0 for h in own), default=0), "above_bytes": above(own), "totals": totals(own),
                "trend": self.trend(own, span), "first_seen_at": stamp(i["first_seen"]),
                "last_seen_at": stamp(max((h["occurred_at"] for h in own), default=i["first_seen"])),
                "first_version": seen[0], "last_version": seen[-1], "members": i.get("members", 1),
                "split_from": self.name(i["split_from"]) if i.get("split_from") else None}

    # Answers -------------------------------------------------------------------------------------------------------

    def apps_list(self):
        rows = []
        for a in sorted(self.apps, key=lambda a: a["slug"]):
            own = [h["occurred_at"] for h in self.events if h["app_id"] == a["app_id"]]
            rows.append({"slug": a["slug"], "name": a["name"],
                         "reports_24h": sum(t >= (self.now - dt.timedelta(hours=24)).replace(minute=0, second=0, microsecond=0) for t in own),
                         "last_seen_at": stamp(max(own)) if own else None})
        return {"apps": rows}

    def overview(self, slug, span, v=None, kind=None):
        events = self.select(slug, span, v, without_apart(kind))
        bucket_s = 3600 if span[1] - span[0] <= dt.timedelta(days=3, hours=1) else 86400
        versions = []
        for name in {self.version(h) for h in events}:
            own = [h for h in events if self.version(h) == name]
            t = totals(own)
            del t["devices"]
            first = min(x["first_seen"] for x in self.versions.values()
                        if x["version"] == name and x["app_id"] == own[0]["app_id"])
            versions.append({"version": name, "first_seen_at": stamp(first), **t})
        versions.sort(key=lambda x: (x["first_seen_at"], natural(x["version"])), reverse=True)
        every = [self.summary(i, events, span) for i in {h["issue_id"] for h in events}]
        top = sorted((f for f in every if not f["subject"]), key=lambda f: (-f["totals"]["waited_ms"], int(f["id"][2:])))
        held = sorted((f for f in every if f["subject"]), key=lambda f: (-f["totals"]["events"], int(f["id"][2:])))
        return {"range": self.range(events, span), "bucket_s": bucket_s, "totals": totals(events),
                "categories": self.shares(events, lambda h: h["category"]), "versions": versions,
                "apart": self.shares(self.select(slug, span, v, list(APART)), lambda h: h["category"]),
                "series": self.series(events, bucket_s), "completeness": self.completeness(slug, span), "turns": self.turns(self.select(slug, span, v)), "top": top[:10], "memory_top": held[:10], "waiting": 0, "dead_letters": 0, "over_quota": 0, "put_aside": []}

    def completeness(self, slug, span):
        app = next(a["app_id"] for a in self.apps if a["slug"] == slug)
        return completeness([(begin(h["occurred_at"]), (h["received_at"] - h["occurred_at"]) / HOUR, stands_for(h))
                             for h in self.events if h["app_id"] == app], span, self.now)

    def turns(self, events):
        sums = {}
        for h in events:
            for t in h["doc"]["event"]["turns"]:
                sums[t["from_ms"]] = sums.get(t["from_ms"], 0) + h["weight"] * t["turns"]
        return [{"from_ms": k, "turns": number(s)} for k, s in sorted(sums.items())]

    def facets(self, slug, span):
        events = self.select(slug, span)
        return {"version": self.shares(events, self.version), "kind": self.shares(events, lambda h: h["category"]),
                "state": self.shares(events, lambda h: self.issues[h["issue_id"]]["state"])}

    def issue_list(self, slug, span, by="caller1", sort="-impact", v=None, kind=None, state=None):
        events = self.select(slug, span, v, without_apart(kind), state)
        groups = {}
        for h in events:
            i = self.issues[h["issue_id"]]
            title = (i["caller1"], i["caller1_image"]) if by == "caller1" else (i["caller1"], i["caller1_image"], i["caller2"]) \
                if by == "place" else (i["subject"] or i["category"], "")
            groups.setdefault(title, []).append(h)
        rows = []
        field = {"impact": "waited_ms", "events": "events", "devices": "devices", "longest": "longest_ms"}

        name = sort.lstrip("-")

        def order(x):
            if name == "title":
                return (x["title"] if "title" in x else f"{x['caller1']} {x['caller2']}").lower()
            return x["last_seen_at"] if name == "last" else x[{"bytes": "most_bytes", "above": "above_bytes"}[name]] if name in ("bytes", "above") else x["totals"][field[name]]

        def ordered(xs, tie):
            return sorted(sorted(xs, key=tie), key=order, reverse=sort[0] == "-")

        for title, own in groups.items():
            features = [self.summary(i, own, span) for i in {h["issue_id"] for h in own}]
            rows.append({"key": hashlib.md5("\x1f".join(title).encode()).hexdigest()[:12], "title": title[0],
                         "image": title[1], "scene": title[2] if by == "place" else "", "most_bytes": max(h["subject_bytes"] or 0 for h in own), "above_bytes": above(own),
                         "totals": totals(own), "trend": self.trend(own, span), "last_seen_at": stamp(max(h["occurred_at"] for h in own)),
                         "issues": ordered(features, lambda f: int(f["id"][2:]))})
        rows = ordered(rows, lambda g: g["key"])
        every = self.select(slug, span, v, without_apart(kind))
        states = [self.issues[i]["state"] for i in {h["issue_id"] for h in every}]
        return {"range": self.range(events, span), "sort": sort, "states": {one: states.count(one) for one in ("open", "regressed", "resolved", "ignored")},
                "faceted": None, "sessions": None, "total": len(rows), "issues_total": len({h["issue_id"] for h in events}),
                "totals": totals(events), "groups": rows, "completeness": self.completeness(slug, span), "next": None}

    def issue(self, slug, issue_id, span, v=None):
        every = self.select(slug, span, v)
        own = [h for h in every if h["issue_id"] == issue_id]
        bucket_s = 3600 if span[1] - span[0] <= dt.timedelta(days=3, hours=1) else 86400
        lengths = sorted(h["duration_ms"] for h in own)
        facts = {"version": self.version, "os_version": lambda h: h["os_version"], "arch": lambda h: h["arch"],
                 "model": lambda h: h["model"], "process": lambda h: h["process"], "holder": lambda h: h["holder"] or None,
                 "class": lambda h: "", "channel": lambda h: "",
                 "state": lambda h: h["foreground"] if h["foreground"] is None else ["background", "foreground"][h["foreground"]],
                 "scene": lambda h: None, "country": lambda h: None}
        distributions = []
        systems = {h["os"] for h in own}
        for name, key in facts.items():
            values = []
            told = [h for h in own if key(h) is not None]
            # A model is of one system: an issue of one system is compared with the reports of that.
            alike = [h for h in every if h["os"] in systems] if len(systems) == 1 and name in ("os_version", "arch", "model") else every
            for s in self.shares(told, key)[:10]:
                share = s["reports"] / len(told)
                whole = sum(key(h) == s["key"] for h in alike) / len(alike)
                values.append({"key": s["key"], "reports": s["reports"], "share": round(share, 3),
                               "lift": round(share / whole, 3) if len(told) >= 20 and name != "holder" else None})
            distributions.append({"name": name, "values": values})
        frames = sum(h["frame_count"] for h in own)
        return {"range": self.range(own, span), "issue": self.summary(issue_id, every, span),
                "p50_ms": rank(lengths, 0.5), "p95_ms": rank(lengths, 0.95), "killed": sum(h["open"] for h in own),
                "launch": sum(h["launch"] for h in own), "foreground": sum(h["foreground"] is True for h in own),
                "background": sum(h["foreground"] is False for h in own),
                "many_threads": sum(h["thread_count"] > 64 for h in own), "suppressed": sum(h["suppressed"] for h in own),
                "durations": bins(lengths), "distributions": distributions, "series": self.series(own, bucket_s),
                "bucket_s": bucket_s, "completeness": self.completeness(slug, span),
                "unresolved_share": round(sum(h["unresolved_count"] for h in own) / frames, 3) if frames else 0,
                "ticket": None}

    def row(self, h):
        return {"id": h["report_id"], "received_at": stamp(h["received_at"]), "occurred_at": stamp(h["occurred_at"]),
                "duration_ms": h["duration_ms"], "open": h["open"], "kept": True, "version": self.version(h),
                "os": h["os"], "os_version": h["os_version"], "arch": h["arch"], "model": h["model"], "process": h["process"],
                "install": h["install"], "footprint_bytes": h["footprint_bytes"], "subject_bytes": h["subject_bytes"]}

    def reports(self, slug, issue_id, span, v=None):
        own = [h for h in self.select(slug, span, v) if h["issue_id"] == issue_id][::-1]
        return own, {"range": self.range(own, span), "total": len(own), "kept": len(own), "reports": [self.row(h) for h in own], "next": None}

    def report(self, slug, issue_id, which, span, v=None):
        own, _ = self.reports(slug, issue_id, span, v)
        at = {"latest": 0, "first": len(own) - 1}.get(which)
        if which == "worst":
            at = max(range(len(own)), key=lambda i: (own[i]["duration_ms"], own[i]["footprint_bytes"] or -1, -i))
        if at is None:
            at = next(i for i, h in enumerate(own) if h["report_id"] == which)
        h, i, doc = own[at], self.issues[issue_id], own[at]["doc"]
        event = doc["event"]
        repeat = {f: sum(f in s["stack"] for s in doc["samples"]) for f in range(len(doc["frames"]))}

        def frames(stack, counts=None):
            return [{**{k: f[k] for k in ("function", "image", "file", "line")}, "offset": f"{f['offset']:x}",
                     "inlined": f["inlined"], "role": f["role"], "rule": None, "mark": None,
                     "repeat": (counts[n] if counts else repeat[j])}
                    for n, (j, f) in enumerate((j, doc["frames"][j]) for j in stack)]

        stacks = []
        for s in doc["samples"]:
            if s["stack"] not in stacks:
                stacks.append(s["stack"])
        hot = doc["hot"]
        names = [doc["frames"][f]["function"] for f in hot["stack"]]
        c1 = names.index(i["caller1"]) if i["caller1"] in names else None
        v = doc["verdict"] is not None and doc["frames"][doc["verdict"]]
        verdict = v and {"frame": {**{k: v[k] for k in ("function", "image", "file", "line")}, "offset": f"{v['offset']:x}",
                             "inlined": v["inlined"], "role": v["role"], "rule": None, "mark": None,
                             "repeat": 0}, "share": 1}
        c2 = next((n for n, x in enumerate(names) if x == i["caller2"] and n != c1), None)
        return {"row": self.row(h), "position": at + 1, "total": len(own), "reports": len(own),
                "previous": own[at - 1]["report_id"] if at else None,
                "next": own[at + 1]["report_id"] if at + 1 < len(own) else None,
                "category": h["category"], "reason": h["reason"], "gate": "poll", "launch": h["category"] == "launch",
                "threshold_ms": 400, "late_ms": 2, "guess": "main-thread block", "why": "", "key": [], "rules": [],
                **{k: event[k] for k in ("trigger", "name", "foreground", "suspended_ms", "begin_slack_ms", "lock", "cpu",
                                         "disk", "frames", "suppressed", "exit", "turns")},
                "verdict": verdict or None, "blame": verdict or None,
                "thread": {"tid": 4211, "name": h["process"], "cpu_ms": h["duration_ms"] * 97 // 100,
                           "voluntary_switches": 3, "major_faults": 0, "read_bytes": 0},
                "hot": {"frames": frames(hot["stack"], hot["repeat"]), "run": hot["run"], "thread": hot["thread"]}, "caller1": c1, "caller2": c2,
                "samples": {"period_ms": doc["period_ms"], "covered_ms": sum(s["weight_ms"] for s in doc["samples"]),
                            "at_ms": [s["at_ms"] for s in doc["samples"]],
                            "weight_ms": [s["weight_ms"] for s in doc["samples"]],
                            "leaf": [role_of([doc["frames"][f]["role"] for f in s["stack"]]) for s in doc["samples"]],
                            "stack": [stacks.index(s["stack"]) for s in doc["samples"]],
                            "thread": [s["thread"] for s in doc["samples"]],
                            "stacks": [{"frames": frames(s)} for s in stacks]},
                "threads": [{**{k: v for k, v in t.items() if k != "stack"}, "frames": frames(t["stack"])} for t in doc["threads"]],
                "facts": [{"name": "Operating system", "value": f"{h['os']} {h['os_version']}"},
                          {"name": "Processors", "value": "8"}, {"name": "Threads", "value": "5"}],
                "cost": {"samples": len(doc["samples"]), **event["cost"]}}

    def memory(self, slug, issue_id, which, span, v=None):
        """One report of memory; its stacks as frames, which is what nodes and locations stand for."""
        base = self.report(slug, issue_id, which, span, v)
        h = next(h for h in self.events if h["report_id"] == base["row"]["id"])
        m, frames = h["doc"]["memory"], h["doc"]["frames"]
        shown = [{**{k: f[k] for k in ("function", "image", "file", "line", "inlined", "role")}, "offset": f"{f['offset']:x}",
                  "rule": None, "mark": None, "repeat": 0} for f in frames]
        return {**{k: base[k] for k in ("row", "position", "total", "reports", "previous", "next", "category", "reason", "why", "key", "rules", "exit", "facts")},
                **{k: m[k] for k in m if k != "stacks"},
                "stacks": [{**{k: s[k] for k in s if k != "stack"}, "frames": [shown[f] for f in s["stack"]]} for s in m["stacks"]]}

    def told(self, events):
        return [(h["doc"]["memory"], whole(h["weight"])) for h in events]

    def issue_memory(self, slug, issue_id, span, v=None):
        day = dt.timedelta(days=1)
        midnight = {"hour": 0, "minute": 0, "second": 0, "microsecond": 0}
        days = span[0].replace(**midnight), (span[1] + day - dt.timedelta(microseconds=1)).replace(**midnight)
        own = [h for h in self.select(slug, days, v) if h["issue_id"] == issue_id]
        versions = {h["version_id"] for h in own}
        systems = {h["os"] for h in own}
        healthy = [(b["memory"], whole(b["weight"])) for b in self.baselines if b["version_id"] in versions and b["os"] in systems]
        return {"from": stamp(days[0]), "to": stamp(days[1]), **memory.totals(self.told(own)),
                "healthy": memory.totals(healthy) if healthy else None, "categories": memory.spreads(self.told(own), healthy)}

    def healthy(self, slug, v=None, device_class=None, system=None):
        app = next(a["app_id"] for a in self.apps if a["slug"] == slug)
        own = [b for b in self.baselines if b["app_id"] == app]
        rows = {}
        for b in own:
            key = self.version(b), b["os"], b["device_class"]
            rows[key] = max(rows.get(key, b["received_at"]), b["received_at"])
        rows = sorted(sorted(rows.items()), key=lambda r: r[1], reverse=True)
        chosen = [(b["memory"], whole(b["weight"])) for b in own
                  if allowed(self.version(b), v) and device_class in (None, b["device_class"]) and system in (None, b["os"])]
        return {"versions": [{"version": k[0], "os": k[1], "device_class": k[2], "last_at": stamp(t)} for k, t in rows],
                **memory.totals(chosen), "categories": memory.spreads(chosen, [])}

    def flame(self, slug, issue_id, span, v=None, cap=2000, most=20000, report=None, of="bytes", category=None):
        own, _ = self.reports(slug, issue_id, span, v)
        if report:
            own = [h for h in own if h["report_id"] == report]
        docs = [(h["doc"], h["weight"]) for h in own[:cap]]
        if not self.issues[issue_id]["subject"]:
            return flame(docs, len(own), most)
        everybody = sum(w for _, w in docs)
        samples = [({"frames": d["frames"], "samples": [
            {"stack": s["stack"], "weight_ms": memory.held(d["memory"], s) if of == "bytes" else s["count"], "thread": 0}
            for s in d["memory"]["stacks"]
            if category in (None, d["memory"]["categories"][s["category"]]["name"])]}, w / everybody) for d, w in docs]
        return flame(samples, len(own), most) | {"unit": of}


APART = ("test", "system", "idle")  # nobody's trouble: in no list unless asked for


def without_apart(kind):
    return kind if any(k[0] != "!" for k in kind or []) else [*(kind or []), *("!" + k for k in APART)]


def allowed(value, wanted):
    if not wanted:
        return True
    yes, no = [w for w in wanted if w[0] != "!"], [w[1:] for w in wanted if w[0] == "!"]
    return (not yes or value in yes) and value not in no


def stands_for(h):
    return h["weight"] * (1 + h["suppressed"])


def above(events):
    """Mean of the bytes above healthy processes, of memory."""
    whole = sum(stands_for(h) for h in events)
    return math.floor(sum(stands_for(h) * (h["above_bytes"] or 0) for h in events) / whole + 0.5) if whole else 0


def totals(events):
    return {"reports": len(events), "events": number(sum(stands_for(h) for h in events)),
            "devices": len({h["install"] for h in events}),
            "waited_ms": number(sum(h["weight"] * waited(h)[1] for h in events)),
            "longest_ms": max((waited(h)[0] for h in events), default=0)}


def told(ms):
    """The length that a histogram of 16 bins to a doubling tells for one: server/src/model/sketch.h."""
    if ms < 32:
        return ms
    width = 1 << ms.bit_length() - 5
    return ms // width * width + width // 2


def role_of(roles):
    """The role of a sample, by those of its frames, innermost first."""
    found = roles[0] if roles else "unknown"
    if found in ("unknown", "system", "runtime", "wait"):
        for role in roles:
            if role == "app":
                break
            if role in ("lock", "io"):
                return role
            found = "wait" if role == "wait" else found
    return found


def rank(ordered, p):
    return told(ordered[max(0, -int(-p * len(ordered) // 1) - 1)]) if ordered else 0


def bins(lengths):
    counts = [sum(lo <= told(x) < hi for x in lengths) for lo, hi in zip(EDGES, EDGES[1:])]
    used = [n for n, c in enumerate(counts) if c]
    return [{"from_ms": EDGES[n], "to_ms": EDGES[n + 1], "reports": counts[n]}
            for n in (range(used[0], used[-1] + 1) if used else [])]


def path_hash(parent, name, image):
    h = 0xCBF29CE484222325
    for b in parent.to_bytes(8, "little") + image.encode() + b"\0" + name.encode() + b"\0":
        h = (h ^ b) * 0x100000001B3 & MASK
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9 & MASK
    h = (h ^ h >> 27) * 0x94D049BB133111EB & MASK
    return h ^ h >> 31


def flame(docs, total, most):
    """Merge whole call trees: nested dicts, then breadth first, widest child first."""
    def node(role="dispatch"):
        return {"self": 0, "value": 0, "kids": {}, "role": role}

    root = node()
    for doc, weight in docs:
        for s in doc["samples"]:
            at, w = root, s["weight_ms"] * weight
            at["value"] += w
            if any(x["thread"] for x in doc["samples"]):
                name = re.sub(r"[-_#:. ]*[0-9]*$", "", doc["threads"][s["thread"] - 1]["name"])
                at = at["kids"].setdefault((name, ""), node("thread"))
                at["value"] += w
            for f in (doc["frames"][j] for j in reversed(s["stack"])):
                at = at["kids"].setdefault((f["function"], f["image"]), node(f["role"]))
                at["value"] += w
            at["self"] += w
    count = sum(1 for _ in walk(root))
    assert count <= most, "the twin does not fold"
    names, images, roles = {}, {}, {}
    out = {"unit": "ms", "reports": len(docs), "reports_total": total, "reports_unreadable": 0, "names": [], "images": [], "roles": [], "name": [],
           "image": [], "role": [], "parent": [], "self": [], "value": [], "hash": []}
    queue = [("all", "", root, -1, path_hash(0, "all", ""))]
    for row, (name, image, n, parent, hashed) in enumerate(queue):
        for table, column, value in ((names, "name", name), (images, "image", image), (roles, "role", n["role"])):
            out[column].append(table.setdefault(value, len(table)))
        out["parent"].append(parent)
        out["self"].append(number(n["self"]))
        out["value"].append(number(n["value"]))
        out["hash"].append(f"{hashed:016x}")
        kids = [(k[0], k[1], c, row, path_hash(hashed, *k)) for k, c in n["kids"].items()]
        queue += sorted(kids, key=lambda k: (-k[2]["value"], k[4]))
    out["names"], out["images"], out["roles"] = list(names), list(images), list(roles)
    return out


def walk(n):
    yield n
    for k in n["kids"].values():
        yield from walk(k)
