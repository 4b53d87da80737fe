"""What processes of the world hold: reports of memory beside events, and the baselines that they are compared with.

    memory  {trigger, footprint_bytes ... as the API names them; categories, stacks, trail, healthy}
    stack   {category, stack: indexes into frames, innermost first, bytes, count, error_bytes, error_count, grown_bytes,
            grown_count, caller1}

A sketch counts numbers by size, sixteen bins to a doubling (server/src/model/sketch.h); here a quantile is taken of the numbers
themselves, and then of the bin it falls in.
"""

MIB = 1 << 20
KINDS = ["heap", "vm", "object", "part"]
REASONS = ["unknown", "bytes", "objects", "growth"]
SCOPES = ["none", "version", "class", "app"]

#     kind      name                bytes      objects   what a leak of tiles multiplies it by
HELD = [
    ("heap", "Malloc 48.00 KiB", 21 * MIB, 448, 18),
    ("vm", "VM: anonymous", 34 * MIB, 12, 1.2),
    ("object", "GdkPixbuf", 18 * MIB, 96, 4),
    ("heap", "Malloc 1.00 KiB", 9 * MIB, 9216, 1.1),
    ("vm", "VM: file", 14 * MIB, 61, 1),
    ("vm", "VM: allocator", 52 * MIB, 14, 4),
    ("vm", "VM: stack", 1 * MIB, 9, 1),
    ("object", "MapViewController", 60_000, 12, 17),
    ("object", "GtkLabel", 350_000, 700, 1),
] + [("heap", f"Malloc {16 * n} B", 40_000 * n, 2500, 1) for n in range(1, 25)] + [
    ("part", "Allocator's own and free", 7 * MIB, 0, 5),
    ("part", "Libraries", 3 * MIB, 0, 1),
    ("part", "Mire", 2 * MIB, 0, 1),
    ("part", "Not explained", 1 * MIB, 0, 1),
]
BLOCKS = ("heap", "object")
FROM = {"foom": "exit", "footprint": "now", "demand": "now", "baseline": "now"}


def bin_of(value):
    if value < 32:
        return value
    top = value.bit_length() - 1
    return 32 + (top - 5) * 16 + (value >> (top - 4) & 15)


def middle(number):
    if number < 32:
        return number
    top, width = (number - 32) // 16 + 5, 0
    width = 1 << (top - 4)
    return (1 << top) + (number - 32) % 16 * width + width // 2


def quantile(values, percent):
    """Of (value, weight) pairs, each value a process's."""
    whole = sum(w for _, w in values)
    if not whole:
        return 0
    seen = 0
    for value, w in sorted(values):
        seen += w
        if seen * 100 >= whole * percent:
            return middle(bin_of(value))
    raise AssertionError("never")


def spread(values):
    return {"p50": quantile(values, 50), "p90": quantile(values, 90)}


def categories(rng, leak):
    """What one process holds; a leak is 0 in a healthy one."""
    found = []
    for kind, name, size, count, times in HELD:
        if rng.random() < 0.03:
            continue
        by = (1 + leak * (times - 1)) * rng.lognormvariate(0, 0.08)
        held, objects = int(size * by), max(int(kind != "part"), int(count * by))
        live = held * 3 if kind == "vm" else held
        grown = int(held * 0.2 * leak) if times > 2 else 0
        found.append({"name": name, "kind": kind, "of_allocator": name == "VM: allocator", "held_bytes": held, "live_bytes": live, "live_count": objects,
                      "total_bytes": live * 7, "total_count": objects * 7, "peak_bytes": live + 4096, "peak_count": objects + 1,
                      "error_bytes": None, "error_count": None, "stack_count": 0 if name == "VM: allocator" or kind == "part" else 2 if size >= 14 * MIB else 1,
                      "grown_bytes": grown, "grown_count": grown // 4096, "healthy_bytes": None, "healthy_count": None,
                      "suspect": None})
    return sorted(found, key=lambda c: (-c["held_bytes"], c["name"]))


def compare(found, healthy, all_bytes):
    """Medians, and suspects by rules of our own: the server only stores what the feature stage found."""
    for c in found:
        same = [next(((x["held_bytes"], x["live_count"]) for x in b["categories"] if (x["kind"], x["name"]) == (c["kind"], c["name"])),
                     (0, 0)) for b in healthy]
        c["healthy_bytes"] = quantile([(b, 1) for b, _ in same], 50)
        c["healthy_count"] = quantile([(n, 1) for _, n in same], 50)
        if c["kind"] == "object" and c["live_count"] >= max(50, 3 * c["healthy_count"]):
            c["suspect"] = {"rank": 0, "reason": "objects", "rule": 13}
        elif c["kind"] in ("heap", "vm") and not c["of_allocator"] and c["held_bytes"] >= max(32 * MIB, 2 * c["healthy_bytes"], all_bytes // 10):
            c["suspect"] = {"rank": 0, "reason": "bytes", "rule": 40}
    suspects = sorted((c for c in found if c["suspect"]), key=lambda c: -(c["held_bytes"] - c["healthy_bytes"]))
    for rank, c in enumerate(suspects, 1):
        c["suspect"]["rank"] = rank


def stacks(found, ways):
    """ways: name of a category -> [(share, stack, caller1)]"""
    rows = []
    for i, c in enumerate(found):
        for share, stack, caller1 in ways.get(c["name"], []):
            rows.append({"category": i, "stack": stack, "bytes": int(c["live_bytes"] * share),
                         "count": max(1, int(c["live_count"] * share)), "error_bytes": None, "error_count": None, "grown_bytes": int(c["grown_bytes"] * share),
                         "grown_count": int(c["grown_count"] * share), "caller1": caller1})
    return rows


def held(memory, stack):
    """What of a stack lies in memory: of mappings it is known by category."""
    of = memory["categories"][stack["category"]]
    return stack["bytes"] * of["held_bytes"] // of["live_bytes"]


def as_sampled(memory):
    """Estimates, and how far they may be off: mappings not at all."""
    for row in memory["categories"]:
        row.update(total_bytes=None, total_count=None, peak_bytes=None, peak_count=None, error_bytes=0, error_count=0)
        if row["kind"] in BLOCKS:
            row.update(error_bytes=row["live_bytes"] // 7, error_count=row["live_count"] // 7)
    for row in memory["stacks"]:
        of = memory["categories"][row["category"]]
        row.update(error_bytes=of["error_bytes"] // 2, error_count=of["error_count"] // 2)
    return memory | {"mode": "sampled", "interval_bytes": 1 << 19, "error_bytes": memory["live_bytes"] // 9, "error_count": memory["live_count"] // 3}


def report(rng, trigger, leak, healthy, ways):
    found = categories(rng, leak)
    held = sum(c["held_bytes"] for c in found if not c["of_allocator"])
    if healthy:
        compare(found, healthy, held)
    limit, footprint = 512 * MIB, held  # the rows add up to it
    unknown = sum(c["held_bytes"] for c in found if c["name"] == "Not explained")
    made = {"trigger": trigger, "name": "", "mode": "exact", "foreground": True, "interval_bytes": None,
            "footprint_bytes": footprint, "footprint_from": FROM.get(trigger), "footprint_peak_bytes": footprint + MIB, "limit_bytes": limit,
            "limit_used_bytes": min(limit, footprint + 20 * MIB), "threshold_bytes": None, "explained_bytes": held - unknown,
            "live_bytes": sum(c["live_bytes"] for c in found if c["kind"] in BLOCKS),
            "live_count": sum(c["live_count"] for c in found if c["kind"] in BLOCKS), "error_bytes": None, "error_count": None,
            "held_bytes": held,
            "mapped_bytes": sum(c["live_bytes"] for c in found if c["kind"] == "vm"), "grown_ms": 60000, "degraded_times": 0,
            "trail": [{"at_ms": n * 15000, "footprint_bytes": footprint * (n + 4) // 24,
                       "available_bytes": None if n % 5 == 0 else max(0, limit - footprint * (n + 4) // 24)} for n in range(21)],
            "healthy": {"scope": "version", "reports": len(healthy),
                        "footprint_bytes": quantile([(b["footprint_bytes"], 1) for b in healthy], 50)} if healthy else None,
            "categories": found, "stacks": stacks(found, ways)}
    return as_sampled(made) if trigger == "footprint" else made


def document(memory, node):
    """The part of the resolved-stack document; node(stack) numbers a stack."""
    facts = ("interval_bytes", "footprint_bytes", "footprint_from", "footprint_peak_bytes", "limit_bytes", "limit_used_bytes", "threshold_bytes",
             "explained_bytes", "live_bytes", "live_count", "error_bytes", "error_count", "held_bytes", "mapped_bytes", "grown_ms",
             "degraded_times", "trigger", "name")
    c, s, healthy = memory["categories"], memory["stacks"], memory["healthy"]
    pairs = [("total_bytes", 1), ("peak_bytes", 2), ("error_bytes", 4), ("stack_count", 8), ("grown_bytes", 16), ("healthy_bytes", 32)]
    counts = ("live_count", "live_bytes", "held_bytes", "total_count", "total_bytes", "peak_count", "peak_bytes", "error_count",
              "error_bytes", "stack_count", "grown_count", "grown_bytes", "healthy_count", "healthy_bytes")
    sure = {key: [x[key] for x in s] for key in ("error_bytes", "error_count")} if memory["mode"] == "sampled" else {}
    found = {key: [(x["suspect"] or {"rank": 0, "rule": 0})[key] for x in c] for key in ("rank", "rule")}
    return {**{k: memory[k] for k in facts if memory[k] is not None}, "taken_ns": 7, "sampled": memory["mode"] == "sampled",
            "foreground": bool(memory["foreground"]), "foreground_known": memory["foreground"] is not None,
            "healthy_scope": SCOPES.index(healthy["scope"]) if healthy else 0,
            **({"healthy_reports": healthy["reports"], "healthy_footprint_bytes": healthy["footprint_bytes"]} if healthy else {}),
            "trail": {"at_ms": [p["at_ms"] for p in memory["trail"]],
                      "footprint_bytes": [p["footprint_bytes"] for p in memory["trail"]],
                      "known": [int(p["available_bytes"] is not None) for p in memory["trail"]],
                      "available_bytes": [p["available_bytes"] or 0 for p in memory["trail"]]},
            "categories": {"name": [x["name"] for x in c], "kind": [KINDS.index(x["kind"]) for x in c],
                           "known": [sum(bit for key, bit in pairs if x[key] is not None) for x in c],
                           "reason": [REASONS.index(x["suspect"]["reason"]) if x["suspect"] else 0 for x in c], **found,
                           **{key: [x[key] or 0 for x in c] for key in counts}},
            "stacks": {"node": [node(x["stack"]) for x in s], "known": [int(x["grown_bytes"] is not None) for x in s],
                       **{k: [x[k] or 0 for x in s] for k in ("category", "count", "bytes", "grown_count", "grown_bytes")}, **sure,
                       "caller1": [-1 if x["caller1"] is None else x["caller1"] for x in s]}}


def number(value):
    """Seven bits a byte, low bits first."""
    out = b""
    while True:
        out += bytes([value & 127 | (128 if value > 127 else 0)])
        value >>= 7
        if not value:
            return out


def sketch(values):
    bins = {}
    for value, w in values:
        bins[bin_of(value)] = bins.get(bin_of(value), 0) + w
    out, before = number(len(bins)), 0
    for at in sorted(bins):
        out += number(at - before) + number(bins[at])
        before = at
    return out


def population(told):
    """Of (memory, weight) pairs, as server/src/model/population_bytes.c writes it."""
    rows = {}
    for memory, w in told:
        for c in memory["categories"]:
            row = rows.setdefault((KINDS.index(c["kind"]), c["name"].encode()), [0, [], []])
            row[0] += w if c["suspect"] else 0
            row[1].append((c["held_bytes"], w))
            row[2].append((c["live_count"], w))
    out = number(1) + number(len(told)) + number(sum(w for _, w in told))
    out += sketch([(m["footprint_bytes"], w) for m, w in told]) + sketch([(m["held_bytes"], w) for m, w in told])
    out += number(len(rows))
    for (kind, name), (suspects, sizes, counts) in sorted(rows.items()):
        out += number(kind) + number(len(name)) + name + number(suspects) + sketch(sizes) + sketch(counts)
    return out


def spreads(told, healthy):
    """What is said of the categories of many processes; told and healthy are (memory, weight) pairs."""
    def of(pairs, key, field):
        return [(next((c[field] for c in m["categories"] if (c["kind"], c["name"]) == key), 0), w) for m, w in pairs]
    rows = []
    whole = sum(w for _, w in told)
    for key in {(c["kind"], c["name"]) for m, _ in told for c in m["categories"]}:
        suspects = sum(w for m, w in told for c in m["categories"] if (c["kind"], c["name"]) == key and c["suspect"])
        rows.append({"name": key[1], "kind": key[0], "of_allocator": key[1] == "VM: allocator", "bytes": spread(of(told, key, "held_bytes")),
                     "objects": spread(of(told, key, "live_count")), "suspect_share": round(suspects / whole, 3),
                     "healthy_bytes": quantile(of(healthy, key, "held_bytes"), 50) if healthy else None,
                     "healthy_objects": quantile(of(healthy, key, "live_count"), 50) if healthy else None, "_suspects": suspects})
    rows.sort(key=lambda r: (-r["_suspects"], -r["bytes"]["p50"], KINDS.index(r["kind"]), r["name"].encode()))
    for r in rows:
        del r["_suspects"]
    return rows


def totals(told):
    return {"reports": len(told), "footprint_bytes": spread([(m["footprint_bytes"], w) for m, w in told]),
            "held_bytes": spread([(m["held_bytes"], w) for m, w in told])}
