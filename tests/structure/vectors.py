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


def rules_hold(report):
    """What schema/wire/vectors/README.md lists as beyond the schema."""
    frames, nodes, hang = report["frames"], report["nodes"], report["hang"]
    samples = hang["samples"]
    node_count = len(nodes["up"])
    leaves = samples["node"] + [thread["node"] for thread in report.get("threads", [])]
    leaves += [hang[verdict]["node"] for verdict in ("hot", "blame") if verdict in hang]
    buckets = report.get("micro_hangs", {"from_ms": [], "count": []})
    return (len(frames["image"]) == len(frames["offset"]) == len(frames.get("found", frames["image"]))
            and node_count == len(nodes["frame"])
            and len(samples["at_ms"]) == len(samples["weight_ms"]) == len(samples["node"])
            and len(samples.get("syscall", samples["node"])) == len(samples["node"])
            and len(samples.get("thread", samples["node"])) == len(samples["node"])
            and all(thread <= len(report.get("threads", [])) for thread in samples.get("thread", []))
            and len(buckets["from_ms"]) == len(buckets["count"])
            and buckets["from_ms"] == sorted(set(buckets["from_ms"]))
            and all(image < len(report["images"]) for image in frames["image"])
            and all(frame < len(frames["image"]) for frame in nodes["frame"])
            and all(up <= row + 1 for row, up in enumerate(nodes["up"]))
            and all(node <= node_count for node in leaves)
            and samples["at_ms"] == sorted(samples["at_ms"]))


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
