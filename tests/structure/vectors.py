#!/usr/bin/env python3
"""The vectors in schema/wire/vectors are what they claim to be, by the JSON Schema and by what it cannot say."""
import json
import os
import pathlib
import sys

import jsonschema

FOLDER = pathlib.Path(os.environ["MIRE_SOURCE_DIR"]) / "schema" / "wire"
SCHEMA = jsonschema.Draft202012Validator(json.loads((FOLDER / "report.schema.json").read_text()))
faults = []


class Twice(Exception):
    pass


def object_of(pairs):
    if len({key for key, _ in pairs}) < len(pairs):
        raise Twice
    return dict(pairs)


def refused_constant(text):
    raise ValueError(text)


def equally_long(table, *path):
    """Of the columns that the schema knows; `path` leads to the table."""
    known = SCHEMA.schema
    for name in path:
        known = known["properties"][name]
    return len({len(column) for name, column in table.items()
                if known["properties"].get(name, {}).get("type") == "array"}) <= 1


def event_rules_hold(report, node_count):
    event = report["event"]
    samples = event["samples"]
    nodes = samples["node"] + [event[verdict]["node"] for verdict in ("hot", "blame") if verdict in event]
    nodes.append(event.get("wait_node", 0))
    return (equally_long(samples, "event", "samples")
            and len(samples.get("loss") or samples["at_ms"]) == len(samples["at_ms"])
            and all(thread <= len(report.get("threads", [])) for thread in samples.get("thread", []))
            and all(node <= node_count for node in nodes)
            and samples["at_ms"] == sorted(samples["at_ms"]))


def memory_rules_hold(memory, node_count):
    categories, stacks, trail = memory["categories"], memory["stacks"], memory.get("trail", {"at_ms": []})
    return (equally_long(categories, "memory", "categories") and equally_long(stacks, "memory", "stacks")
            and equally_long(trail, "memory", "trail")
            and all(category < len(categories["name"]) for category in stacks["category"])
            and all(node <= node_count for node in stacks["node"])
            and trail["at_ms"] == sorted(trail["at_ms"]))


def java_rules_hold(report):
    java = report.get("java", {"texts": [], "class": [], "method": []})
    rows, texts = len(java["class"]), len(java["texts"])
    columns = {name: java.get(name, [missing] * rows) for name, missing in
               (("class", -1), ("method", -1), ("file", -1), ("line", 0), ("number", -1))}
    named = [min(one, two) >= 0 and java["texts"][one] and java["texts"][two] for one, two in zip(columns["class"], columns["method"])
             if max(one, two) < texts]
    of_java = [place for image, place in zip(report["frames"]["image"], report["frames"]["offset"])
               if 0 <= image < len(report["images"]) and report["images"][image].get("java")]
    return (all(len(column) == rows for column in columns.values()) and len(named) == rows
            and all(text < texts for text in columns["file"]) and all(row < rows for row in of_java)
            and all(one or number >= 0 for one, number in zip(named, columns["number"])))


def crumb_rules_hold(report):
    crumbs = report.get("context", {}).get("crumbs", {"at_ms": [], "texts": []})
    return len(crumbs["at_ms"]) == len(crumbs["texts"]) and crumbs["at_ms"] == sorted(crumbs["at_ms"])


def script_rules_hold(report):
    script = report.get("script", {"texts": [], "function": []})
    rows, texts = len(script["function"]), script["texts"]
    of_script = [place for image, place in zip(report["frames"]["image"], report["frames"]["offset"])
                 if 0 <= image < len(report["images"]) and report["images"][image].get("script")]
    return (all(len(script[name]) == rows for name in ("file", "line") if name in script)
            and all(text < len(texts) and texts[text] for text in script["function"])
            and all(text < len(texts) for text in script.get("file", [])) and all(row < rows for row in of_script)
            and all(row < rows for row in report["frames"].get("name", []))
            and all(len(report["frames"][name]) == len(report["frames"]["image"]) for name in ("name", "whole")
                    if name in report["frames"]))


def rules_hold(report):
    """What schema/wire/vectors/README.md lists as beyond the schema."""
    frames, nodes = report["frames"], report["nodes"]
    node_count = len(nodes["up"])
    buckets = report.get("turns", {"from_ms": [], "count": []})
    return (equally_long(frames, "frames") and equally_long(nodes, "nodes") and equally_long(buckets, "turns")
            and java_rules_hold(report) and script_rules_hold(report) and crumb_rules_hold(report)
            and buckets["from_ms"] == sorted(set(buckets["from_ms"]))
            and all(image < len(report["images"]) for image in frames["image"])
            and all(frame < len(frames["image"]) for frame in nodes["frame"])
            and all(up <= row + 1 for row, up in enumerate(nodes["up"]))
            and all(thread["node"] <= node_count for thread in report.get("threads", []))
            and ("event" not in report or event_rules_hold(report, node_count))
            and ("memory" not in report or memory_rules_hold(report["memory"], node_count)))


def judge(path):
    """None if the document is a report, else the error that expect.json should name."""
    try:
        text = path.read_bytes().decode()
        text.encode("utf-16", "strict")
        report = json.loads(text, object_pairs_hook=object_of, parse_constant=refused_constant)
        json.dumps(report, ensure_ascii=False).encode()  # a lone surrogate has no bytes
    except Twice:
        return "schema"
    except (ValueError, RecursionError):
        return "json"
    return None if SCHEMA.is_valid(report) and rules_hold(report) else "schema"


for kind in "valid", "invalid":
    folders = sorted((FOLDER / "vectors" / kind).iterdir())
    if len(folders) < 10:
        faults.append(f"{kind}: only {len(folders)} vectors")
    for folder in folders:
        expected = json.loads((folder / "expect.json").read_text()).get("error")
        found = judge(folder / "report.json")
        if found != expected or (kind == "valid") != (expected is None):
            faults.append(f"{kind}/{folder.name}: is {found or 'a report'}, expect.json says {expected or 'a report'}")
print("\n".join(faults))
sys.exit(bool(faults))
