#!/usr/bin/env python3
"""The vectors of documents other than reports are what they claim to be: schema/wire/vectors/<kind>/{valid,invalid}."""
import json
import os
import pathlib
import sys

import jsonschema

FOLDER = pathlib.Path(os.environ["MIRE_SOURCE_DIR"]) / "schema" / "wire"
faults = []


def refused_constant(text):
    raise ValueError(text)


def judge(schema, path):
    try:
        document = json.loads(path.read_bytes().decode(), parse_constant=refused_constant)
    except (ValueError, RecursionError):
        return "json"
    return None if schema.is_valid(document) else "schema"


for kind in ["rollout", "session"]:
    schema = jsonschema.Draft202012Validator(json.loads((FOLDER / f"{kind}.schema.json").read_text()))
    for verdict in "valid", "invalid":
        folders = sorted((FOLDER / "vectors" / kind / verdict).iterdir())
        if len(folders) < 5:
            faults.append(f"{kind}/{verdict}: only {len(folders)} vectors")
        for folder in folders:
            expected = json.loads((folder / "expect.json").read_text()).get("error")
            found = judge(schema, folder / "document.json")
            if found != expected or (verdict == "valid") != (expected is None):
                faults.append(f"{kind}/{verdict}/{folder.name}: {found or 'good'}, expect.json says {expected or 'good'}")
print("\n".join(faults))
sys.exit(bool(faults))
