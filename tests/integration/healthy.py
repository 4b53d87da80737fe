#!/usr/bin/python3
"""What healthy processes hold, from their own reports to a verdict on another: an app with libmire (tests/programs/own/memory_app.c), a
real mired.

The app draws 40 MiB of panels, as it should, and sometimes 34 MiB of maps as well, which is its fault. As long as nobody has said
what is healthy, the panels are suspect. Five processes that are well say it; then the maps are, and who loads them."""

import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from answers import answer_of  # noqa: E402
from mired import BINARY, Mired, scratch, until  # noqa: E402

HEALTHY = 5  # server/src/feature/suspects.h: with fewer there is no median
APP = BINARY / "tests/integration/memory_app"
PANELS, MAPS = "Malloc 64 KiB", "Malloc 128 KiB"
LIMIT_S = 300


def run(mired, key, store, what):
    subprocess.run([APP, store, what, mired.url, key], check=True, timeout=LIMIT_S)


def get(mired, path, name):
    status, _, body = mired.ask("GET", "/api/v1/apps/memory-app" + path)
    assert status == 200, body
    return answer_of(body, name)


def issues(mired):
    return {feature["subject"]: feature for group in get(mired, "/issues?kind=memory", "listIssues")["groups"]
            for feature in group["issues"]}


def leaks_once(mired, key, store, subject):
    """The issue of a process that leaks, and its report's categories by name."""
    before = issues(mired).get(subject, {"totals": {"reports": 0}})["totals"]["reports"]
    run(mired, key, store, "leak")
    until(f"an issue of {subject}", lambda: issues(mired).get(subject, {"totals": {"reports": 0}})["totals"]["reports"] > before)
    feature = issues(mired)[subject]
    memory = get(mired, f"/issues/{feature['id']}/reports/latest/memory", "getMemory")
    return feature, memory, {row["name"]: row for row in memory["categories"]}


with scratch("healthy") as name:
    folder = pathlib.Path(name)
    mired = Mired(folder, "--local-images=yes")
    try:
        key = mired.key("memory-app", "ingest")
        feature, memory, held = leaks_once(mired, key, folder / "store", PANELS)
        assert feature["caller1"] == "draw_panel" and memory["healthy"] is None, (feature, memory["healthy"])
        for _ in range(HEALTHY):
            run(mired, key, folder / "store", "well")
        healthy = until("baselines are counted", lambda: (found := get(mired, "/healthy?v=1.0", "getHealthy"))["reports"] >= HEALTHY and found)
        feature, memory, held = leaks_once(mired, key, folder / "store", MAPS)
        assert feature["caller1"] == "load_map" and feature["caller2"] == "leak", feature
        now = get(mired, "/healthy?v=1.0", "getHealthy")["reports"]  # more may have come meanwhile
        assert healthy["reports"] <= memory["healthy"]["reports"] <= now and memory["healthy"]["scope"] == "version", (healthy, memory["healthy"], now)
        panels, maps = held[PANELS], held[MAPS]
        assert panels["live_bytes"] > maps["live_bytes"] and not panels["suspect"] and maps["suspect"], (panels, maps)
        assert 0.9 < panels["live_bytes"] / panels["healthy_bytes"] < 1.1, panels
        assert 15 < maps["live_bytes"] / maps["healthy_bytes"] < 22, maps
        print(f"{HEALTHY} baselines: {PANELS} x{panels['live_bytes'] / panels['healthy_bytes']:.2f}, "
              f"{MAPS} x{maps['live_bytes'] / maps['healthy_bytes']:.1f}: {feature['caller1']} < {feature['caller2']}, {feature['reason']}")
    finally:
        mired.stop()
