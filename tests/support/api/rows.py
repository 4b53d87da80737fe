"""Writes a world of scenario.py into a database, as the worker would have."""

import datetime as dt
import json
import math
import subprocess

import memory
from columns import columns

UTC = dt.timezone.utc


def slot(report_id):
    """FNV-1a over the 16 bytes, folded: server/src/base/id.c."""
    h = 0x811C9DC5
    for b in bytes.fromhex(report_id.replace("-", "")):
        h = (h ^ b) * 0x01000193 & 0xFFFFFFFF
    return (h ^ h >> 16) % 64


def day(report_id):
    ms = int(report_id.replace("-", "")[:12], 16)
    return (dt.datetime(1970, 1, 1, tzinfo=UTC) + dt.timedelta(milliseconds=ms)).date().isoformat()


def stored(data):
    """A zstd frame of raw blocks: a Python without zstd can write one."""
    out = b"\x28\xb5\x2f\xfd\xa0" + len(data).to_bytes(4, "little")
    blocks = [data[i:i + 131072] for i in range(0, len(data), 131072)]
    for n, block in enumerate(blocks):
        out += (len(block) << 3 | (n == len(blocks) - 1)).to_bytes(3, "little") + block
    return out


def document(h, issue):
    """The resolved-stack document of an event: a trie over the samples' stacks."""
    doc, nodes, index = h["doc"], [], {}

    def node(stack):
        at = 0
        for f in reversed(stack):
            if (at, f) not in index:
                nodes.append((at, f))
                index[at, f] = len(nodes)
            at = index[at, f]
        return at

    samples = [node(s["stack"]) for s in doc["samples"]]
    threads = [{k: v for k, v in {**t, "node": node(t["stack"])}.items() if k != "stack" and v is not None}
               for t in doc["threads"]]
    e = doc["event"]
    verdict = {} if doc["verdict"] is None else {k: {"location": doc["verdict"], "share_ppm": 1000000} for k in ("verdict", "blame")}
    known = {k: {n: v for n, v in e[k].items() if v is not None} for k in ("cpu", "disk", "frames", "exit") if e[k]}
    if e["lock"]:
        known |= {"lock": {"address": 140737488350000, "owner_tid": e["lock"]["owner_tid"]},
                  "holder": {k: e["lock"][k] for k in ("itself", "thread", "frame")}}
    if e["foreground"] is not None:
        known |= {"foreground": e["foreground"], "foreground_known": True}
    names = [doc["frames"][f]["function"] for f in doc["hot"]["stack"]]
    c1 = names.index(issue["caller1"]) if issue["caller1"] in names else -1
    c2 = next((n for n, x in enumerate(names) if x == issue["caller2"] and n != c1), -1)
    value = {
        "resolved": 2, "gate": "poll", "launch": h["category"] == "launch", "threshold_ms": 400, "late_ms": 2,
        "guess": "main-thread block",
        "thread": {"tid": 4211, "name": h["process"], "cpu_ms": h["duration_ms"] * 97 // 100, "voluntary_switches": 3,
                   "major_faults": 0, "read_bytes": 0},
        "rules": {"pack": [], "version": [], "line": [], "text": []}, "period_ms": doc["period_ms"],
        "hot": {"node": node(doc["hot"]["stack"]), "run": doc["hot"]["run"], "thread": doc["hot"]["thread"], "repeat": doc["hot"]["repeat"], "caller1": c1,
                "caller2": c2},
        "threads": threads, **verdict, **known,
        **{k: e[k] for k in ("trigger", "name", "suspended_ms", "begin_slack_ms", "suppressed")},
        "turns": {"from_ms": [t["from_ms"] for t in e["turns"]], "count": [t["turns"] for t in e["turns"]]},
        "facts": [{"name": "Operating system", "value": f"{h['os']} {h['os_version']}"},
                  {"name": "Processors", "value": "8"}, {"name": "Threads", "value": "5"}],
        "cost": {"samples": len(samples), **{k: v for k, v in e["cost"].items() if v is not None}}}
    if "memory" in doc:
        value["memory"] = memory.document(doc["memory"], node)
    return stored(json.dumps(value, ensure_ascii=False).encode() + b"\0" + columns(doc["frames"], nodes, doc["samples"], samples))


def ended(h):
    """The verdict on the process's end, and how sure it is."""
    end = h["doc"]["event"]["exit"]
    return (end["verdict"], end["confidence_ppm"]) if end else (None, None)


def waited(h):
    """Milliseconds of one event, and of all it stands for."""
    process = h["category"] in ("cpu", "power", "disk", "foom", "memory", "custom", "test")
    return (0, 0) if process else (h["duration_ms"], h["duration_ms"] + h["suppressed_ms"])


def field(value):
    if value is None:
        return "\\N"
    if isinstance(value, bytes):
        return "\\\\x" + value.hex()
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, bool):
        return "tf"[not value]
    return str(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def copy(table, columns, rows):
    lines = ["\t".join(field(v) for v in row) for row in rows]
    return f"COPY {table} ({columns}) FROM STDIN;\n" + "".join(line + "\n" for line in lines) + "\\.\n"


def counted(events, key, with_last):
    sums = {}
    for h in events:
        hour = h["occurred_at"].replace(minute=0, second=0, microsecond=0)
        s = sums.setdefault((slot(h["report_id"]), hour, h["app_id"], *key(h)), [0, 0, 0, 0, h["occurred_at"], 0, 0])
        s[0] += 1
        s[1] += h["weight"] * (1 + h["suppressed"])
        s[2] += h["weight"] * waited(h)[1]
        s[3] = max(s[3], waited(h)[0])
        s[4] = max(s[4], h["occurred_at"])
        s[5] = max(s[5], h["subject_bytes"] or 0)
        s[6] += h["weight"] * (1 + h["suppressed"]) * (h["above_bytes"] or 0)
    return [(*k, *(s if with_last else s[:4])) for k, s in sums.items()]


def arrivals(events):
    """By day, and by the delay in hours: below 1, 2, 4 ..."""
    sums = {}
    for h in events:
        hours = int((h["received_at"] - h["occurred_at"]) / dt.timedelta(hours=1))
        key = slot(h["report_id"]), h["occurred_at"].astimezone(UTC).date().isoformat(), h["app_id"], "event", min(hours.bit_length(), 12)
        sums[key] = sums.get(key, 0) + h["weight"] * (1 + h["suppressed"])
    return [(*k, s) for k, s in sums.items()]


def turns(events):
    sums = {}
    for h in events:
        hour = h["occurred_at"].replace(minute=0, second=0, microsecond=0)
        for t in h["doc"]["event"]["turns"]:
            key = slot(h["report_id"]), hour, h["app_id"], h["version_id"], t["from_ms"]
            sums[key] = sums.get(key, 0) + h["weight"] * t["turns"]
    return [(*k, s) for k, s in sums.items()]


def whole(weight):
    """As the server rounds it."""
    return math.floor(weight + 0.5)


def summed(told, key):
    """Populations by key, each on the slots of its reports."""
    sums = {}
    for t in told:
        held = t["memory"] if "memory" in t else t["doc"]["memory"]
        sums.setdefault((slot(t["report_id"]), *key(t)), []).append((held, whole(t["weight"])))
    return [(*k, memory.population(v)) for k, v in sums.items()]


def populations(events, baselines):
    utc = lambda t: t["occurred_at"].astimezone(UTC).date().isoformat()
    held = [h for h in events if "memory" in h["doc"]]
    of = lambda b: (b["app_id"], b["version_id"], b["os"], b["device_class"])
    return "".join([
        copy("issue_memory", "slot,day,app_id,issue_id,version_id,tree,population",
             summed(held, lambda h: (utc(h), h["app_id"], h["issue_id"], h["version_id"], h["tree"]))),
        copy("healthy", "slot,app_id,version_id,os,device_class,last_at,population",
             [(*k, max(b["received_at"] for b in baselines if (slot(b["report_id"]), *of(b)) == tuple(k)), held)
              for *k, held in summed(baselines, of)]),
    ])


def trees(events, issues):
    """One stack for each tree: the hot one of the report that came first."""
    found, first = {}, {}
    for h in events:
        key = h["app_id"], h["issue_id"], h["tree"]
        first[key] = min(first.get(key, h["occurred_at"]), h["occurred_at"])
    for h in sorted(events, key=lambda h: (h["received_at"], h["report_id"])):
        if h["tree"] and "hot" in h["doc"]:
            frames = [h["doc"]["frames"][f] for f in h["doc"]["hot"]["stack"]]
            clean = lambda text: text.replace("\t", " ").replace("\n", " ")
            text = "".join(f"{f['role']}\t{clean(f['function'])}\t{clean(f['image'])}\n" for f in frames)
            names = [f["function"] for f in frames]
            caller1 = issues[h["issue_id"]]["caller1"]
            found.setdefault((h["app_id"], h["issue_id"], h["tree"]),
                             (first[h["app_id"], h["issue_id"], h["tree"]], text, names.index(caller1) if caller1 in names else -1))
    return [(*k, *v) for k, v in found.items()]


def script(world):
    """One psql script."""
    apps, versions, issues, events, baselines = world
    by_id = {i["issue_id"]: i for i in issues}
    ids = [(slot(h["report_id"]), day(h["report_id"]), h["report_id"]) for h in events]
    return "BEGIN;\n" + "".join([
        copy("app", "app_id,slug,name", [(a["app_id"], a["slug"], a["name"]) for a in apps]),
        copy("version", "version_id,app_id,version,build,first_seen",
             [(v["version_id"], v["app_id"], v["version"], v["build"], v["first_seen"]) for v in versions]),
        copy("issue", "issue_id,app_id,feature_key,caller1,caller1_image,caller1_location,caller2,caller2_image,category,reason,"
             "rules_version,state,first_seen,first_version_id,subject,split_from",
             [(i["issue_id"], i["app_id"], i["issue_id"].to_bytes(16, "big"), i["caller1"], i["caller1_image"],
               i["caller1_location"], i["caller2"], i["caller2_image"], i["category"], i["reason"], 1, i["state"],
               i["first_seen"], i["first_version_id"], i["subject"], i.get("split_from")) for i in issues]),
        copy("event", "slot,day,report_id,app_id,version_id,issue_id,received_at,occurred_at,duration_ms,category,reason,open,"
             "weight,install,os,os_version,arch,model,process_name,sample_count,frame_count,unresolved_count,rules_version,"
             "foreground,launch,thread_count,suppressed,suppressed_ms,holder,footprint_bytes,subject_bytes,above_bytes,exit,exit_ppm,tree,waited_ms",
             [(*k, h["app_id"], h["version_id"], h["issue_id"], h["received_at"], h["occurred_at"], h["duration_ms"],
               h["category"], h["reason"], h["open"], h["weight"], bytes.fromhex(h["install"]), h["os"], h["os_version"],
               h["arch"], h["model"], h["process"], h["sample_count"], h["frame_count"], h["unresolved_count"], 1, h["foreground"], h["launch"],
               h["thread_count"], h["suppressed"], h["suppressed_ms"], h["holder"], h["footprint_bytes"], h["subject_bytes"], h["above_bytes"], *ended(h), h["tree"], waited(h)[0])
              for k, h in zip(ids, events)]),
        copy("event_stack", "slot,day,report_id,document",
             [(*k, document(h, by_id[h["issue_id"]])) for k, h in zip(ids, events)]),
        copy("version_hour", "slot,hour,app_id,version_id,category,reports,events,waited_ms,longest_ms",
             counted(events, lambda h: (h["version_id"], h["category"]), False)),
        copy("issue_hour", "slot,hour,app_id,issue_id,version_id,tree,reports,events,waited_ms,longest_ms,last_at,most_bytes,above_bytes",
             counted(events, lambda h: (h["issue_id"], h["version_id"], h["tree"]), True)),
        copy("issue_tree", "app_id,issue_id,tree,first_seen,frames,caller1", trees(events, by_id)),
        copy("arrival_day", "slot,day,app_id,kind,delay,events", arrivals(events)),
        copy("turn_hour", "slot,hour,app_id,version_id,from_ms,turns", turns(events)),
    ]) + populations(events, baselines) + "SELECT setval(pg_get_serial_sequence('issue', 'issue_id'), 1000) \\g /dev/null\nCOMMIT;\n"


def load(conninfo, world):
    subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", "-d", conninfo], input=script(world).encode(), check=True)
