#!/usr/bin/python3
"""The dashboards for Grafana ask for series that the server has, by labels that these have."""

import json
import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(os.environ.get("MIRE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
faults = []

# Names that the server writes, and of the families of /metrics/apps their labels, as docs/metrics.md has them.
code = "".join(path.read_text() for path in sorted((SOURCE / "server/src").rglob("*.c")))
written = set(re.findall(r'"(mire_[a-z0-9_]+)"', code))
labels = {}
for names, told in re.findall(r"^\| (`mire_[^|]*) \|([^|]*)\|", (SOURCE / "docs/metrics.md").read_text(), re.M):
    for name in re.findall(r"`(mire_\w+)`", names):
        own = set(re.findall(r"`(\w+)`", told))
        if "as above" in told:
            own |= labels[name.replace("mire_version_", "mire_app_")]
        labels[name] = own

families = set(re.findall(r'{"(mire_\w+)",', (SOURCE / "server/src/api/apps/metrics.c").read_text())) | {"mire_app_window_seconds", "mire_apps_omitted"}
for name in sorted(families ^ set(labels)):
    faults.append(f"{name} is in one of docs/metrics.md and server/src/api/apps/metrics.c alone")


def expressions(value):
    """Every query of a dashboard: of panels and of variables."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("expr", "query", "definition") and isinstance(inner, str):
                yield inner
            else:
                yield from expressions(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from expressions(inner)


def check(path, expression):
    for name, selector in re.findall(r"\b(mire_\w+)(?:{([^}]*)})?", expression):
        if name not in written:
            faults.append(f"{path}: the server has no series {name}: {expression}")
        if name in labels:
            used = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector))
            for wrong in used - labels[name]:
                faults.append(f"{path}: {name} has no label {wrong}: {expression}")
            for rate in re.findall(r'rate="(\w+)"', selector):
                if f'"{rate}"' not in code:
                    faults.append(f"{path}: there is no rate {rate}")
            for group in re.findall(r"by \(([^)]*)\)", expression):
                for wrong in {word.strip() for word in group.split(",")} - labels[name]:
                    faults.append(f"{path}: {name} has no label {wrong}: {expression}")


dashboards = sorted((SOURCE / "deploy/grafana").glob("*.json"))
for path in dashboards:
    asked = [e for e in expressions(json.loads(path.read_text())) if "mire_" in e]
    if len(asked) < 10:
        faults.append(f"{path}: only {len(asked)} queries")
    for expression in asked:
        check(path.relative_to(SOURCE), expression)
if not dashboards:
    faults.append("there is no dashboard in deploy/grafana")
print("\n".join(faults))
sys.exit(bool(faults))
