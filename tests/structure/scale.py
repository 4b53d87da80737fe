#!/usr/bin/env python3
"""docs/scale.md has the table that deploy/scale/plan.py computes, and the compose files there start mired as mired can be started."""

import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("MIRE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
PLAN = SOURCE / "deploy/scale/plan.py"
COMPOSE = "".join((SOURCE / "deploy/scale" / name).read_text() for name in ("docker-compose.yml", "citus.yml"))
faults = []


def plan(*words):
    return subprocess.run([sys.executable, PLAN, *map(str, words)], capture_output=True, text=True, timeout=60)


page = (SOURCE / "docs/scale.md").read_text()
computed = plan()
if computed.returncode or computed.stdout not in page:
    faults.append(f"docs/scale.md lacks the table of deploy/scale/plan.py:\n{computed.stdout}{computed.stderr}")
for line in re.findall(r"^`plan\.py (.*?)` prints (.*)$", page, re.M):
    said, printed = line[1].rstrip("."), plan(*line[0].split()).stdout
    for figure in re.findall(r"\*\*(.*?)\*\*", said):
        if figure not in printed:
            faults.append(f"plan.py {line[0]} does not print {figure}:\n{printed}")

# A figure grows with what it is computed from, and nonsense is refused.
few, many = (plan("--daily", daily).stdout.splitlines()[-1] for daily in (1e6, 1e8))
if few == many:
    faults.append("plan.py says the same of 1 and of 100 million")
for wrong in (["--daily", "-1"], ["--daily", "1", "--hang", "2"], ["--daily", "1", "--days", "0"], ["--daily", "x"]):
    if plan(*wrong).returncode != 2:
        faults.append(f"plan.py takes {wrong}")

roles = set(re.findall(r'{"(\w+)", (?:MIRE_ROLE_\w+|-\d)}', (SOURCE / "server/src/main_mired.c").read_text()))
for role in re.findall(r"^ +command: \[(\w+)[^]]*\]$", COMPOSE, re.M):
    if role not in roles | {"postgres"}:
        faults.append(f"deploy/scale: mired has no role {role}")
settings = set(re.findall(r'\[MIRE_SET_\w+\] = {"(\w+)"', (SOURCE / "server/src/daemon/config_table.c").read_text()))
for name in re.findall(r"^ +MIRED_(\w+):", COMPOSE, re.M):
    if name.lower() not in settings:
        faults.append(f"deploy/scale: mired has no setting {name.lower()}")

print("\n".join(faults))
sys.exit(bool(faults))
