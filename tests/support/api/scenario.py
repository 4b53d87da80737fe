"""A small, fixed world of apps, issues and events, for the example answers and for the API's integration test.

Everything follows from SEED, so two runs build the same world. An event is a plain dict with the columns of the table
`event` and, under "doc", its resolved stacks:

    frames   [{function, image, file, line, offset, inlined, role}]
    samples  [{at_ms, weight_ms, stack, thread}]      stack: indexes into frames, innermost first
    hot      {stack, run, repeat, thread}
    threads  [{tid, name, role, cpu_ms, state, syscall, stack}]
    event    what else the report says, as the API names it
"""

import datetime as dt
import random
import uuid

import memory

SEED = 20261102
NOW = dt.datetime(2026, 11, 2, 14, 32, 7, tzinfo=dt.timezone.utc)

LIBC = "libc.so.6"
GLIB = "libglib-2.0.so.0"
GTK = "libgtk-3.so.0"


def frame(function, image, role, file="", line=0, inlined=False):
    offset = (sum(ord(c) * (i + 7) for i, c in enumerate(function)) * 2654435761) % 0x180000 + 0x1000
    return {"function": function, "image": image, "file": file, "line": line, "offset": offset, "inlined": inlined,
            "role": role}


REDIS = "redis-server"
REDIS_OUTER = [
    frame("__libc_start_call_main", LIBC, "runtime"),
    frame("main", REDIS, "dispatch", "server.c", 7360),
    frame("aeMain", REDIS, "dispatch", "ae.c", 495),
    frame("aeProcessEvents", REDIS, "dispatch", "ae.c", 420),
    frame("connSocketEventHandler", REDIS, "dispatch", "socket.c", 298),
    frame("readQueryFromClient", REDIS, "dispatch", "networking.c", 2730),
    frame("processInputBuffer", REDIS, "dispatch", "networking.c", 2520),
    frame("processCommandAndResetClient", REDIS, "app", "networking.c", 2430),
    frame("processCommand", REDIS, "app", "server.c", 4218),
    frame("call", REDIS, "app", "server.c", 3560),
]
EXEC = [frame("execCommand", REDIS, "app", "multi.c", 258), frame("call", REDIS, "app", "server.c", 3560)]
KEYS = frame("keysCommand", REDIS, "app", "db.c", 910)
SORT = frame("sortCommandGeneric", REDIS, "app", "sort.c", 520)
DEBUG = frame("debugCommand", REDIS, "app", "debug.c", 590)


def redis(name, place="", line=0, role="app"):
    return frame(name, REDIS, role, place, line)


KEYS_LEAVES = [
    (30, [redis("stringmatchlen_impl", "util.c", 72), redis("stringmatchlen", "util.c", 203)]),
    (22, [redis("dictNext", "dict.c", 1010)]),
    (12, [frame("__memcpy_avx_unaligned_erms", LIBC, "runtime"), redis("_addReplyProtoToList", "networking.c", 380),
          redis("addReplyBulk", "networking.c", 880)]),
    (9, [frame("__libc_malloc", LIBC, "allocator"), redis("zmalloc", "zmalloc.c", 120, "allocator"),
         redis("createStringObject", "object.c", 128)]),
    (7, [redis("je_arena_malloc_hard", "arena.c", 1502, "allocator"), redis("zmalloc", "zmalloc.c", 120, "allocator"),
         redis("createEmbeddedStringObject", "object.c", 84), redis("createStringObject", "object.c", 128)]),
    (6, [redis("expireIfNeeded", "db.c", 1720)]),
    (4, [redis("sdslen", "sds.h", 88), redis("dictSdsKeyCompare", "server.c", 410), redis("dictFind", "dict.c", 744),
         redis("getExpire", "db.c", 1590), redis("keyIsExpired", "db.c", 1660), redis("expireIfNeeded", "db.c", 1720)]),
    (3, [redis("siphash_nocase", "siphash.c", 190), redis("dictFind", "dict.c", 744), redis("getExpire", "db.c", 1590),
         redis("keyIsExpired", "db.c", 1660), redis("expireIfNeeded", "db.c", 1720)]),
    (3, [frame("madvise", LIBC, "wait"), redis("je_pages_purge_forced", "pages.c", 560, "allocator"),
         redis("je_arena_decay", "arena.c", 430, "allocator"), redis("zfree", "zmalloc.c", 330, "allocator"),
         redis("decrRefCount", "object.c", 370)]),
    (2, [redis("decrRefCount", "object.c", 370)]),
    (1, []),
]
SORT_LEAVES = [
    (6, [frame("__strcoll_l", LIBC, "runtime"), redis("sortCompare", "sort.c", 150), redis("_pqsort", "pqsort.c", 165),
         redis("pqsort", "pqsort.c", 183)]),
    (3, [redis("swapfunc", "pqsort.c", 72), redis("_pqsort", "pqsort.c", 140), redis("pqsort", "pqsort.c", 183)]),
    (2, [redis("lookupKeyByPattern", "sort.c", 98)]),
]
SLEEP_LEAVES = [(1, [frame("clock_nanosleep", LIBC, "wait"), frame("nanosleep", LIBC, "wait"),
                     frame("usleep", LIBC, "wait")])]

STALLS = "stalls"
GLIB_OUTER = [
    frame("__libc_start_call_main", LIBC, "runtime"),
    frame("main", STALLS, "dispatch", "stalls.c", 212),
    frame("g_main_loop_run", GLIB, "dispatch"),
    frame("g_main_context_iterate", GLIB, "dispatch"),
    frame("g_main_context_dispatch", GLIB, "dispatch"),
]


def stalls(name, line, role="app"):
    return frame(name, STALLS, role, "stalls.c", line)


WORKER_OUTER = [frame("clone3", LIBC, "runtime"), frame("start_thread", LIBC, "runtime")]
FLUSHER = [frame("fdatasync", LIBC, "io"), stalls("flush_journal", 244), stalls("writer_main", 260)] + WORKER_OUTER[::-1]
COST = {"stopped_max_ns": 21400, "stopped_sum_ns": 214800, "unwind_sum_ns": 1904000, "watch_cpu_us": 5120}


def event(category, reason, duration_ms):
    """What a report of that kind says besides its stacks."""
    said = {"trigger": "busy", "name": "", "foreground": None, "suspended_ms": 0, "begin_slack_ms": 0, "lock": None,
            "cpu": None, "disk": None, "frames": None, "exit": None, "suppressed": {"count": 0, "duration_ms": 0}, "turns": [],
            "cost": {**COST, "wakeups": None, "stored_bytes": None, "period_raised": None}}
    if reason == "lock":
        said |= {"foreground": True, "suspended_ms": 1200, "suppressed": {"count": 2, "duration_ms": 5400},
                 "lock": {"owner_tid": 4213, "itself": False, "thread": 1, "frame": 1},
                 "turns": [{"from_ms": 250, "turns": 31}, {"from_ms": 500, "turns": 7}, {"from_ms": 2000, "turns": 1}],
                 "cost": {**COST, "wakeups": 412, "stored_bytes": 5120, "period_raised": 1}}
    if category == "killed":
        said |= {"exit": {
            "verdict": "watchdog_kill", "confidence_ppm": 992248, "for": ["parent_saw_kill", "stuck"],
            "against": ["ground_unknown"], "excluded": ["app_upgrade", "exit", "crash", "user_quit", "os_change"], "signal": 9,
            "code": -6, "address": 8, "depth": 1, "foreground": True, "foreground_ms": 61000, "stuck_ms": duration_ms,
            "seen_wall_ms": 1795245433842, "footprint_bytes": 270532608, "footprint_peak_bytes": 281018368,
            "limit_used_bytes": 1610612736, "limit_bytes": 25274449920, "available_bytes": 23663837184, "pressure_ppm": 0,
            "oom_kills": 0, "thread_count": 7, "fd_count": 11, "debugger": False}}
    if category == "test":
        said |= {"trigger": "test"}
    if category == "power":
        said |= {"trigger": "power", "foreground": False,
                 "cpu": {"window_ms": duration_ms, "percent": 93, "limit_percent": 80}}
    return said


#        number caller1 caller2 category reason  state, outer frames, leaves, events, median seconds
CAUSES = {
    "redis": [
        (1, KEYS, "processCommand", "hang", "cpu", "open", REDIS_OUTER, KEYS_LEAVES, 46, 3.4),
        (2, SORT, "processCommand", "hang", "cpu", "open", REDIS_OUTER, SORT_LEAVES, 17, 2.6),
        (3, DEBUG, "processCommand", "hang", "sleep", "ignored", REDIS_OUTER, SLEEP_LEAVES, 9, 5.0),
        (4, KEYS, "execCommand", "hang", "cpu", "open", REDIS_OUTER + EXEC, KEYS_LEAVES, 12, 4.1),
        (5, KEYS, "processCommand", "killed", "cpu", "open", REDIS_OUTER, KEYS_LEAVES, 3, 19.0),
    ],
    "stalls": [
        (6, stalls("read_settings", 61), "on_open_file", "hang", "io", "open",
         GLIB_OUTER + [stalls("on_open_file", 70)],
         [(1, [frame("__read", LIBC, "io"), frame("_IO_file_underflow", LIBC, "io"), frame("fgets", LIBC, "io")])],
         8, 2.3),
        (7, stalls("cache_lookup", 104), "on_refresh", "hang", "lock", "open",
         GLIB_OUTER + [frame("g_timeout_dispatch", GLIB, "dispatch"), stalls("on_refresh", 121)],
         [(1, [frame("__lll_lock_wait", LIBC, "lock"), frame("pthread_mutex_lock", LIBC, "lock"),
               frame("g_mutex_lock", GLIB, "lock")])], 6, 2.9),
        (8, stalls("layout_page", 160), "on_resize", "launch", "cpu", "resolved",
         GLIB_OUTER + [frame("g_idle_dispatch", GLIB, "dispatch"), stalls("on_resize", 175)],
         [(3, [stalls("measure_word", 140)]), (1, [])], 5, 2.1),
        (9, stalls("encode_block", 310), "encode_page", "power", "cpu", "open",
         WORKER_OUTER + [stalls("encode_page", 322)],
         [(3, [stalls("transform", 280)]), (2, [stalls("quantise", 295)]), (1, [])], 4, 60.0),
        (10, stalls("on_test_button", 400), "on_test_button", "test", "cpu", "open",
         GLIB_OUTER + [stalls("on_test_button", 400)], [(1, [])], 2, 0.5),
    ],
}
APPS = [("redis", "Redis cache"), ("stalls", "Stalls, the example app"), ("kiosk", "Kiosk"), ("mapview", "Map viewer")]
VERSIONS = {"redis": ["7.0.14", "7.0.15", "7.2.4"], "stalls": ["1.0", "1.1"], "mapview": ["8.0.37", "8.0.38"]}
MAPVIEW = "mapview"


def mapview(name, line, role="app", file="tiles.cc"):
    return frame(name, MAPVIEW, role, file, line)


MALLOC = frame("malloc", LIBC, "allocator")
MAP_OUTER = [frame("g_main_context_dispatch", GLIB, "dispatch"), frame("g_main_loop_run", GLIB, "dispatch"),
             mapview("main", 40, "dispatch", "main.cc"), frame("__libc_start_call_main", LIBC, "runtime")]
SCROLL = [mapview("drawPanel(Panel&)", 77, file="panel.cc"), mapview("onScroll(GtkWidget*, double)", 31, file="panel.cc")]
MAP_FRAMES = [MALLOC, mapview("std::vector<Tile>::_M_realloc_insert", 440, "runtime", "vector.tcc"),
              mapview("TileCache::insert(Key, Tile&&)", 118), mapview("decodeTile(Blob const&)", 203), *SCROLL, *MAP_OUTER,
              mapview("fetchThumbnail(Url const&)", 55, file="avatar.cc"), mapview("openMap(Place const&)", 21, file="map.cc"),
              frame("gdk_pixbuf_new_from_data", "libgdk_pixbuf-2.0.so.0", "system")]
TILES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
WAYS = {"Malloc 48.00 KiB": [(0.78, TILES, 2), (0.12, [0, 10, 5, 6, 7, 8, 9], 1), (0.02, [], None)],
        "GdkPixbuf": [(0.9, [12, 2, 3, 4, 5, 6, 7, 8, 9], 1)],
        "VM: anonymous": [(0.5, [0, 3, 4, 5, 6, 7, 8, 9], 1)],
        "MapViewController": [(0.97, [0, 11, 6, 7, 8, 9], 1)]}
#         number kind trigger subject reason Caller1 Caller2, reports, how much it leaks
MEMORY = [(11, "foom", "foom", "Malloc 48.00 KiB", "bytes", MAP_FRAMES[2], MAP_FRAMES[5], 14, 1.0),
          (12, "memory", "pressure", "Malloc 48.00 KiB", "bytes", MAP_FRAMES[2], MAP_FRAMES[5], 5, 0.6),
          (13, "memory", "footprint", "MapViewController", "objects", MAP_FRAMES[11], MAP_FRAMES[11], 3, 0.3)]
MACHINES = [("debian 12", "x86_64", "KVM"), ("debian 12", "aarch64", "Raspberry Pi 5"), ("ubuntu 24.04", "x86_64", "NUC13"),
            ("debian 13", "x86_64", "KVM")]


def resolved(rng, cause, duration_ms):
    """Stacks of one event of a cause: shared outer frames, leaves drawn by weight."""
    _, caller1, _, _, _, _, outer, leaves, _, _ = cause
    frames, index = [], {}

    def number(f):
        key = (f["function"], f["image"], f["line"])
        if key not in index:
            index[key] = len(frames)
            frames.append(f)
        return index[key]

    count = min(20, max(4, duration_ms // 100))
    period = duration_ms // 2 // count
    samples, run_of = [], None
    for i in range(count):
        if run_of is None or rng.random() < 0.35:
            run_of = rng.choices([x for _, x in leaves], [w for w, _ in leaves])[0]
        stack = [number(f) for f in run_of + [caller1] + outer[::-1]]
        thread = 1 + i % 2 if cause[3] == "power" else 0
        samples.append({"at_ms": duration_ms // 2 + i * period, "weight_ms": period, "stack": stack, "thread": thread})
    best, length, hot, last = 0, 0, 0, None
    heaviest = min({s["thread"] for s in samples}, key=lambda t: (-sum(s["weight_ms"] + 1 for s in samples if s["thread"] == t), t))
    for i, s in enumerate(samples):
        if s["thread"] != heaviest:
            continue
        length = length + 1 if s["stack"][0] == last else 1
        last = s["stack"][0]
        if length >= best:
            best, hot = length, i
    stack = samples[hot]["stack"]
    other = {"cpu_ms": None, "state": "?", "syscall": -1}
    threads = [{"tid": 4212, "name": "bio_close_file", "role": "other", **other, "stack": []}]
    if cause[4] == "lock":
        threads.append({"tid": 4213, "name": "journal", "role": "owner", "cpu_ms": 40, "state": "D", "syscall": 75,
                        "stack": [number(f) for f in FLUSHER]})
    if cause[3] == "power":
        threads = [{"tid": 4220 + n, "name": f"encoder-{n}", "role": "busy", "cpu_ms": duration_ms * 46 // 100, "state": "R",
                    "syscall": -1, "stack": [s["stack"] for s in samples if s["thread"] == n + 1][-1]} for n in (0, 1)]
    return {"frames": frames, "samples": samples, "period_ms": period, "threads": threads,
            "verdict": number(caller1), "event": event(cause[3], cause[4], duration_ms),
            "hot": {"stack": stack, "run": best, "thread": heaviest,
                    "repeat": [sum(f in s["stack"] for s in samples if s["thread"] == heaviest) for f in stack]}}


def received_before(rng, now):
    """When a report came, and its id."""
    back_s = min(rng.expovariate(1 / (3.5 * 86400)), 13.9 * 86400) + 120
    received = now - dt.timedelta(seconds=back_s)
    received = received.replace(microsecond=received.microsecond // 1000 * 1000)
    ms, tail = int(received.timestamp() * 1000) - rng.randrange(800, 4000), rng.getrandbits(74)
    return received, str(uuid.UUID(int=(ms << 80) | (7 << 76) | ((tail >> 62) << 64) | (2 << 62) | (tail & (1 << 62) - 1)))


def memory_world(rng, app, versions, installs, now):
    """Issues of memory, their reports, and baselines."""
    issues, events, baselines = [], [], []
    for version, device_class in ((versions[0], "4gb"), (versions[1], "4gb"), (versions[1], "8gb")):
        for _ in range(9):
            received, rid = received_before(rng, now)
            baselines.append({"report_id": rid, "app_id": app["app_id"], "version_id": version["version_id"], "weight": 1.0,
                              "os": "linux", "device_class": device_class, "received_at": received,
                              "memory": memory.report(rng, "baseline", 0, [], {})})
    for number, kind, trigger, subject, reason, caller1, caller2, count, leak in MEMORY:
        issues.append({"issue_id": number, "app_id": app["app_id"], "caller1": caller1["function"], "caller1_image": caller1["image"],
                       "caller1_location": f"{caller1['file']}:{caller1['line']}", "caller2": caller2["function"],
                       "caller2_image": caller2["image"], "category": kind, "reason": reason, "state": "open", "subject": subject})
        for _ in range(count):
            received, rid = received_before(rng, now)
            version = rng.choices(versions, (1, 4))[0]
            healthy = [b["memory"] for b in baselines if (b["version_id"], b["device_class"]) == (version["version_id"], "4gb")]
            held = memory.report(rng, trigger, leak * rng.uniform(0.8, 1.2), healthy, WAYS)
            said = event(kind, reason, 0) | {"trigger": "busy", "foreground": None}
            if kind == "foom":
                said |= {"exit": {"verdict": "foom", "confidence_ppm": 985000, "for": ["oom_counted", "near_limit", "grew"], "against": [],
                                  "excluded": ["app_upgrade", "exit", "crash", "user_quit", "os_change", "background", "stuck"],
                                  "signal": 9, "debugger": False}}
            machine = rng.choices(MACHINES, [6, 1, 2, 2])[0]
            doc = {"frames": MAP_FRAMES, "samples": [], "period_ms": 0, "threads": [], "verdict": None, "event": said,
                   "hot": {"stack": [], "run": 0, "thread": 0, "repeat": []}, "memory": held}
            events.append({
                "report_id": rid, "app_id": app["app_id"], "issue_id": number, "version_id": version["version_id"],
                "received_at": received, "occurred_at": received, "duration_ms": 0, "category": kind, "reason": reason,
                "open": kind == "foom", "weight": 1.0, "install": rng.choice(installs), "os": "linux", "os_version": machine[0],
                "arch": machine[1], "model": machine[2], "process": MAPVIEW, "doc": doc,
                "footprint_bytes": held["footprint_bytes"],
                "subject_bytes": next((c["held_bytes"] for c in held["categories"] if c["name"] == subject), 0),
                "above_bytes": next((max(0, c["held_bytes"] - (c["healthy_bytes"] or 0)) for c in held["categories"] if c["name"] == subject), 0)})
    return issues, events, baselines


def world(seed=SEED, now=NOW):
    """Returns (apps, versions, issues, events, baselines); events in the order in which they happened, some of them received long after."""
    rng = random.Random(seed)
    installs = [rng.randbytes(16).hex() for _ in range(24)]
    apps = [{"app_id": i + 1, "slug": s, "name": n} for i, (s, n) in enumerate(APPS)]
    versions, issues, events = [], [], []
    for app in apps:
        for v in VERSIONS.get(app["slug"], []):
            versions.append({"version_id": len(versions) + 1, "app_id": app["app_id"], "version": v, "build": ""})
        own = [v for v in versions if v["app_id"] == app["app_id"]]
        for cause in CAUSES.get(app["slug"], []):
            number, caller1, caller2, category, reason, state, outer, _, count, median_s = cause
            second = next(f for f in outer if f["function"] == caller2)
            issues.append({
                "issue_id": number, "app_id": app["app_id"], "caller1": caller1["function"],
                "caller1_image": caller1["image"], "caller1_location": f"{caller1['file']}:{caller1['line']}",
                "caller2": caller2, "caller2_image": second["image"], "category": category, "reason": reason,
                "state": state})
            for _ in range(count):
                back_s = min(rng.expovariate(1 / (3.5 * 86400)), 13.9 * 86400) + 120
                received = now - dt.timedelta(seconds=back_s)
                received = received.replace(microsecond=received.microsecond // 1000 * 1000)
                duration = int(1000 * median_s * rng.lognormvariate(0, 0.45)) + 400
                machine = rng.choices(MACHINES, [6, 1, 2, 2])[0]
                ms = int(received.timestamp() * 1000) - rng.randrange(800, 4000)
                tail = rng.getrandbits(74)
                rid = uuid.UUID(int=(ms << 80) | (7 << 76) | ((tail >> 62) << 64) | (2 << 62) | (tail & (1 << 62) - 1))
                install = rng.choice(installs)
                events.append({
                    "report_id": str(rid), "app_id": app["app_id"], "issue_id": number,
                    "version_id": rng.choices(own, range(1, len(own) + 1))[0]["version_id"],
                    "received_at": received, "occurred_at": received - dt.timedelta(milliseconds=duration + 700),
                    "duration_ms": duration, "category": category, "reason": reason, "open": category == "killed",
                    "weight": 1.0, "install": install, "os": "linux", "os_version": machine[0], "arch": machine[1],
                    "model": machine[2], "process": app["slug"] if app["slug"] != "redis" else REDIS,
                    "doc": resolved(rng, cause, duration)})
    maps = next(a for a in apps if a["slug"] == MAPVIEW)
    own = [v for v in versions if v["app_id"] == maps["app_id"]]
    more_issues, more, baselines = memory_world(random.Random(seed + 1), maps, own, installs, now)
    issues += more_issues
    events += more
    for i in issues:
        i.setdefault("subject", "")
    for h in events:
        h.setdefault("footprint_bytes", None)
        h.setdefault("subject_bytes", None)
        h.setdefault("above_bytes", None)
        h["tree"] = 0
    for n, h in enumerate(h for h in events if h["issue_id"] <= 3):
        h["tree"] = [5, -7, 0][n % 3] if h["issue_id"] == 1 else 100 + h["issue_id"]
    of_tree, oldest = lambda h: (h["issue_id"], h["tree"]), {}
    for h in events:
        oldest[of_tree(h)] = min(oldest.get(of_tree(h), h["occurred_at"]), h["occurred_at"])
    for n, h in enumerate(events):
        earlier, first = h["occurred_at"] - dt.timedelta(hours=3 + 11 * (n % 5)), oldest[of_tree(h)]
        if n % 9 == 4 and h["occurred_at"] > first:  # it was offline; another one stays the first of its stack
            h["occurred_at"] = max(earlier, first + (h["occurred_at"] - first) / 2)
    events.sort(key=lambda h: (h["occurred_at"], h["report_id"]))
    for h in events:
        e = h["doc"]["event"]
        h["foreground"], h["launch"], h["thread_count"] = e["foreground"], h["category"] == "launch", 5
        h["suppressed"], h["suppressed_ms"] = e["suppressed"]["count"], e["suppressed"]["duration_ms"]
        h["holder"] = "journal in flush_journal" if h["reason"] == "lock" else ""
        h["sample_count"] = len(h["doc"]["samples"])
        h["frame_count"] = len(h["doc"]["frames"])
        h["unresolved_count"] = 0
    for v in versions:
        seen = [h["received_at"] for h in events if h["version_id"] == v["version_id"]]
        v["first_seen"] = min(seen) if seen else now
    for i in issues:
        first = next(h for h in events if h["issue_id"] == i["issue_id"])
        i["first_seen"], i["first_version_id"] = first["occurred_at"], first["version_id"]
    return apps, versions, issues, events, baselines
