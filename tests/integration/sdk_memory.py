#!/usr/bin/python3
"""Memory reports of real programs: an app with libmire, on demand, in trouble, in health and killed; programs as they are."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import jsonschema

SOURCE = pathlib.Path(os.environ.get("MIRE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = pathlib.Path(os.environ.get("MIRE_BINARY_DIR", SOURCE / "build/release"))
APP = BINARY / "tests/integration/memory_app"
SCHEMA = jsonschema.Draft202012Validator(json.loads((SOURCE / "schema/wire/report.schema.json").read_text()))
CGROUP = pathlib.Path("/sys/fs/cgroup/memory")
MIB = 1 << 20


def reports(store):
    """Sealed memory reports, oldest first, as documents."""
    found = []
    for path in sorted((store / "out").glob("*.report")):
        text = subprocess.run(["zstd", "-dcq"], input=path.read_bytes(), stdout=subprocess.PIPE, timeout=300).stdout
        document = json.loads(text)
        SCHEMA.validate(document)
        if document["kind"] == "memory":
            document["bytes"] = path.stat().st_size
            found.append(document)
    return found


def rows(document, table):
    columns = document["memory"][table]
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def category(document, name):
    return next(row for row in rows(document, "categories") if row["name"] == name)


def view(document, *words):
    """The report in a terminal, where names are found."""
    document = {key: value for key, value in document.items() if key != "bytes"}
    done = subprocess.run([BINARY / "server/mire", "memory", *words, "-"], input=json.dumps(document), text=True,
                          stdout=subprocess.PIPE, timeout=300, check=True)
    return done.stdout


def add_up(report):
    """The rows, but of what only holds blocks, are the footprint."""
    held = sum(row["resident_bytes"] for row in rows(report, "categories") if row["name"] not in ("VM: allocator", "VM: brk"))
    footprint = report["memory"]["footprint_bytes"]
    assert abs(held - footprint) <= footprint // 100, (held, footprint, rows(report, "categories"))


def run(store, what, **more):
    subprocess.run([APP, store, what], check=True, timeout=300, **more)


def on_demand(store):
    run(store, "demand")
    first, unnamed, second = reports(store)
    assert [r["memory"].get("name") for r in (first, unnamed, second)] == ["first", None, "second"]
    assert all(r["memory"]["trigger"] == "demand" and r["memory"]["mode"] == "exact" for r in (first, unnamed, second))
    assert first["memory"]["foreground"] and "grown_ms" not in first["memory"]
    held = category(first, "Malloc 64 KiB")
    assert held["live_count"] == 100 and held["live_bytes"] == 100 * 48 * 1024 and held["kind"] == 0, held
    tiles = category(first, "MapTile")
    assert tiles["live_count"] == 64 and tiles["live_bytes"] == 64 * 640 and tiles["kind"] == 2, tiles
    later = category(second, "Malloc 64 KiB")
    assert later["live_count"] == 80 and later["grown_count"] == -20 and later["peak_count"] >= 100, later
    assert later["total_count"] == 130, later
    assert category(second, "MapTile")["grown_count"] == 0
    text = view(second, "--category", "Malloc 64 KiB")
    assert re.search(r"50 blocks, grown by -2\.3 MiB\n +1> load_map .*memory_app\.c:\d+\n", text), text
    assert re.search(r"30 blocks, grown by \+1\.4 MiB\n +1> draw_panel .*memory_app\.c:\d+\n", text), text
    assert all(r["memory"]["live_bytes"] == sum(row["live_bytes"] for row in rows(r, "categories") if row["kind"] in (0, 2))
               for r in (first, unnamed, second))
    assert all(0 < r["memory"]["explained_bytes"] <= r["memory"]["footprint_bytes"] for r in (first, second))
    for report in (first, unnamed, second):
        assert report["memory"]["footprint_from"] == "now", report["memory"]
        add_up(report)
    assert all(r["bytes"] < 40000 for r in (first, second))


def while_all_else_changes(store):
    """What stays is told exactly, however often other blocks come and go meanwhile."""
    run(store, "churn")
    found = [r for r in reports(store) if r["memory"].get("name") == "churn"]
    assert len(found) == 5
    for report in found:
        tiles, maps = category(report, "MapTile"), category(report, "Malloc 64 KiB")
        assert tiles["live_count"] == 64 and tiles["live_bytes"] == 64 * 640, tiles
        assert maps["live_count"] == 100, maps
        small = sum(row["live_count"] for row in rows(report, "categories") if row["kind"] == 0) - maps["live_count"]
        assert small < 4 * 512 + 2000, small
        # a table's lock that is not to be had in time costs a block, never a wait
        assert sum(report["memory"]["drops"].values()) * 1000 < report["memory"]["cost"]["calls"], report["memory"]


def of_modes_that_change(store):
    """What was noted is known until it is freed, in whatever mode; what comes in exact mode is, on every thread from the first;
    what comes in sampled mode after that is estimated, with as many samples as it should have."""
    run(store, "modes")
    report, sampled = reports(store)
    live = {row["name"]: row["live_count"] for row in rows(report, "categories")}
    assert live["Crumb"] == 200 and live["Malloc 64 KiB"] == 40, live
    assert live["Malloc 16 KiB"] == 40 and live["Malloc 128 KiB"] == 30 and live["Malloc 256 KiB"] == 40, live
    assert live.get("Malloc 32 KiB", 0) == 0, live
    estimate = category(sampled, "Malloc 1 KiB")
    assert 0.9 * 20e6 < estimate["live_bytes"] < 1.1 * 20e6, estimate


def of_the_apps_own_allocator(store):
    """Blocks that it hands out are told one by one, from the function that tells of them; where they lie is not counted again.
    What is allocated within a scope has its class, the innermost one's."""
    run(store, "pool")
    report, = reports(store)
    pieces, rest = category(report, "Malloc 1 KiB"), category(report, "Malloc 256 KiB")
    assert 200 <= pieces["total_count"] < 205 and pieces["live_count"] == pieces["total_count"] - 80, pieces
    assert rest["live_count"] == 0 and rest["total_count"] == 1, rest
    text = view(report, "--category", "Malloc 1 KiB")
    assert re.search(r" in 120 blocks\n +1> hand_out .*memory_app\.c:\d+\n +pool ", text), text
    for name, count in (("Sprite", 35), ("Shadow", 10)):
        row = category(report, name)
        assert (row["kind"], row["live_count"], row["live_bytes"]) == (2, count, count * 300), row


def of_trouble_and_health(store):
    run(store, "footprint")
    found = [r["memory"] for r in reports(store)]
    assert [m["trigger"] for m in found] == ["footprint"], found  # again only when a quarter more, and ten minutes later
    assert found[0]["threshold_bytes"] == 20 * MIB <= found[0]["footprint_bytes"] < 45 * MIB, found
    assert found[0]["trail"]["footprint_bytes"] == sorted(found[0]["trail"]["footprint_bytes"]), found
    shutil.rmtree(store)
    run(store, "baseline")
    found = [r["memory"]["trigger"] for r in reports(store)]
    assert found and set(found) == {"baseline"} and len(found) <= 2, found  # after 0.5, 1.5, 3.5 s at the earliest


def of_a_killed_run(store):
    """Killed by hand: no report, but the tables are kept, and of many runs the last three."""
    for i in range(4):
        app = subprocess.Popen([APP, store, "grow"], stdout=subprocess.PIPE)
        app.stdout.readline()
        time.sleep(0.3)
        app.send_signal(signal.SIGKILL)
        app.wait()
        app.stdout.close()
    run(store, "start")
    kept = list((store / "memory").glob("*.heap"))
    assert len(kept) == 3 and not list((store / "box").glob("*.heap")), kept
    text = subprocess.run([BINARY / "server/mire", "memory", kept[0]], capture_output=True, text=True, timeout=300).stdout
    assert re.search(r"Malloc 128 KiB.*\n +100 %.*\n +1> load_map ", text), text
    assert not [r for r in reports(store) if r["memory"]["trigger"] == "foom"]


def shown_of(tables):
    return subprocess.run([BINARY / "server/mire", "memory", tables], stdout=subprocess.PIPE, text=True, timeout=300).stdout


def of_a_reserve_that_is_hardly_used(store):
    """Of 512 MiB of addresses 32 MiB lie in memory: known of a killed run as well, as it was looked at while it lived."""
    shows, text, until = r"(?m)^ +3\d\.\d MiB .*VM: anonymous   of 5\d\d\.\d MiB mapped$", "", time.monotonic() + 300
    with subprocess.Popen([APP, store, "reserve"], stdout=subprocess.PIPE) as app:
        try:
            app.stdout.readline()
            while not re.search(shows, text):
                assert time.monotonic() < until, text
                time.sleep(0.2)
                text = shown_of(next((store / "box").glob("*.heap")))
        finally:
            app.kill()
    run(store, "start")
    text = shown_of(next((store / "memory").glob("*.heap")))
    assert re.search(shows, text), text  # and no suspect


def limited(megabytes, words, **more):
    """Run under a memory limit. None where this machine has no such thing."""
    group = CGROUP / f"mire_test_{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        return None
    try:
        for name in ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"):
            if (group / name).exists():
                (group / name).write_text(str(megabytes * MIB))
        enter = f'echo $$ > {group}/cgroup.procs; exec "$@"'
        return subprocess.run(["sh", "-c", enter, "sh", *words], timeout=300, stdout=subprocess.PIPE, **more).returncode
    finally:
        time.sleep(0.1)
        group.rmdir()


def of_a_run_without_memory(store):
    code = limited(64, [APP, store, "grow"])
    if code is None:
        return print("no run was killed for lack of memory: there is no memory control group here")
    assert code == -signal.SIGKILL, code
    run(store, "start")
    run(store, "start")  # and nothing more the second time
    found = [r for r in reports(store) if r["memory"]["trigger"] == "foom"]
    assert len(found) == 1, found
    report = found[0]
    assert report["exit"]["verdict"] == "foom" and report["memory"]["limit_bytes"] == 64 * MIB, report["exit"]
    assert report["memory"]["live_bytes"] > 45 * MIB and report["bytes"] < 40000
    assert report["memory"]["footprint_bytes"] > 45 * MIB, report["memory"]  # whatever the last look saw
    add_up(report)
    top = next(row for row in rows(report, "categories") if row["kind"] == 0)  # address space is not memory
    assert top["name"] == "Malloc 128 KiB" and top["live_bytes"] > 45 * MIB, top
    assert re.search(r"Malloc 128 KiB   suspect: bytes\n +100 %.*\n +1> load_map ", view(report)), view(report)


def of_a_leak_that_takes_a_moment(store):
    """What the last look saw is not the footprint of a program that took all it could in the half second after it."""
    code = "x = [bytearray(b'x') * 100000 for i in iter(int, 1)]"
    words = [BINARY / "sdk/mire-run", "--store", store, "--app", "fast", "--", "/usr/bin/python3", "-c", code]
    code = limited(160, words, env=os.environ | {"MIRE_MEMORY": "exact"})
    if code is None:
        return print("no fast leak was killed: there is no memory control group here")
    assert code == 128 + signal.SIGKILL, code
    report, = [r for r in reports(store) if r["memory"]["trigger"] == "foom"]
    live, footprint = report["memory"]["live_bytes"], report["memory"]["footprint_bytes"]
    assert live > 120 * MIB and live <= footprint <= 168 * MIB, report["memory"]
    assert report["memory"]["explained_bytes"] > 0.9 * footprint, rows(report, "categories")
    add_up(report)


def of_programs_as_they_are(store):
    words = [BINARY / "sdk/mire-run", "--store", store, "--app", "calc", "--"]
    python = shutil.which("python3", path="/usr/bin:/bin")
    code = "x = [bytes(100000) for i in range(200)]; print(len(x))"
    done = subprocess.run([*words, python, "-c", code], env=os.environ | {"MIRE_MEMORY": "exact", "PYTHONMALLOC": "malloc"},
                          stdout=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout == "200\n", done
    kept = list((store / "memory").glob("*.heap"))
    assert len(kept) == 1, kept
    text = subprocess.run([BINARY / "server/mire", "memory", "--top", "100", "--stacks", "0", kept[0]], capture_output=True,
                          text=True, timeout=300).stdout
    row = re.search(r"^ +\S+ \w+ +[\d,]+ +- +([\d.]+) MiB +([\d.]+) MiB  Malloc 128 KiB", text, re.M)
    assert row and 19 <= float(row[1]) <= 21 and 19 <= float(row[2]) <= 21, text


def live_in(text):
    """Live blocks by category, of a terminal's table."""
    rows = re.findall(r"^ +\S+ \w+ +([\d,]+) .*  (\S.*)$", text, re.M)
    return {name: int(count.replace(",", "")) for count, name in rows}


def tables(store, words, **more):
    """What a program as it is held at its end, as the terminal shows it."""
    run = [BINARY / "sdk/mire-run", "--store", store, "--app", "objects", "--"]
    subprocess.run([*run, *words], env=os.environ | {"MIRE_MEMORY": "exact"} | more, check=True, timeout=300, stdout=subprocess.DEVNULL)
    kept, = (store / "memory").glob("*.heap")
    text = subprocess.run([BINARY / "server/mire", "memory", "--top", "100", "--stacks", "0", kept], capture_output=True,
                          text=True, timeout=300).stdout
    shutil.rmtree(store)
    return text


def of_objects(store):
    """GObjects carry their type's names, and each counts once, where GLib has slices of its own and where it has not."""
    objects = {"TestTile": 200, "TestLayer": 40, "GLocalFile": 20}
    subprocess.run([BINARY / "tests/integration/object_app", store], check=True, timeout=300)
    report, = reports(store)
    for name, count in objects.items():
        row = category(report, name)
        assert row["live_count"] == count and row["kind"] == 2, row
    tile = category(report, "TestTile")  # 24 bytes of GObject, 16 of its own, 72 private ones before it
    assert tile["live_bytes"] == 200 * 120 and tile["total_count"] == tile["peak_count"] == 300, tile
    shutil.rmtree(store)
    for more in ({}, {"G_SLICE": "always-malloc"}):
        live = live_in(tables(store, [BINARY / "tests/integration/object_plain"], **more))
        assert {name: live.get(name) for name in objects} == objects, live


def of_objects_of_a_library_loaded_later(store):
    code = "from gi.repository import Gio\nimport time\nuntil = time.monotonic() + 2\nwhile time.monotonic() < until: str(until)\nx = [Gio.Cancellable() for i in range(70)]"
    if subprocess.run(["/usr/bin/python3", "-c", "from gi.repository import Gio"], stderr=subprocess.DEVNULL).returncode:
        return print("no objects were made from python: python3-gi is not here")
    live = live_in(tables(store, ["/usr/bin/python3", "-c", code + "\nimport os\nos._exit(0)"]))
    assert live.get("GCancellable") == 70, live


def of_its_own_addresses(store):
    """The tables take few addresses, for some programs lock all they have into memory, and no huge pages, of which a touch
    takes 2 MiB: told by a program's own view of itself."""
    environment, seen = os.environ | {"MIRE_MEMORY": "exact"}, {}
    for what in ("status", "smaps"):
        words = [BINARY / "sdk/mire-run", "--store", store, "--", "/usr/bin/cat", f"/proc/self/{what}"]
        seen[what] = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=True, timeout=300).stdout
    size_kib = int(re.search(r"VmSize:\s+(\d+)", seen["status"])[1])
    assert size_kib < 400 << 10, size_kib
    mappings = re.findall(r"^[0-9a-f]+-[0-9a-f]+ (\S+) \S+ \S+ (\d+) *(.*)\n(?:(?![0-9a-f]+-).*\n)*?Size: +(\d+) kB\n(?:(?![0-9a-f]+-).*\n)*?VmFlags: (.*)$",
                          seen["smaps"], re.M)
    tables = [row for row in mappings if row[0][1] == "w" and int(row[3]) >= 4096 and (row[1] == "0" or row[2].endswith(".heap"))]
    assert len(tables) >= 3, mappings
    if os.path.exists("/sys/kernel/mm/transparent_hugepage"):
        assert all("nh" in row[4].split() for row in tables), tables


def of_a_forked_child(store):
    """What a child inherited of the library's is not told as the program's, and of no generation."""
    code = ("import os, select, signal\nfor generation in range(3):\n for i in range(20): select.select([], [], [], 0.01)\n"
            " child = os.fork()\n if child: os.waitpid(child, 0); os._exit(0)\nselect.select([], [], [], 0.2); os.kill(os.getpid(), signal.SIGKILL)")
    words = [BINARY / "sdk/mire-run", "--store", store, "--app", "family", "--", "/usr/bin/python3", "-c", code]
    subprocess.run(words, env=os.environ | {"MIRE_MEMORY": "exact"}, check=True, timeout=300)
    kept = list((store / "memory").glob("*.heap"))
    assert len(kept) == 3, kept
    for tables in kept:
        text = subprocess.run([BINARY / "server/mire", "memory", tables], capture_output=True, text=True, timeout=300).stdout
        row = re.search(r"VM: anonymous(?:   of ([\d.]+) (\w+) mapped)?( .*suspect.*)?$", text, re.M)
        assert row and not row[3] and (not row[1] or row[2] == "KiB" or (row[2] == "MiB" and float(row[1]) < 32)), text


def of_a_thousand_threads(store):
    """What a program with as many takes more when it is monitored, all of ours included: the least of five runs of each, for how
    far its own threads reach down their stacks differs from run to run."""
    words = [BINARY / "sdk/mire-run", "--store", store, "--app", "crowd", "--", BINARY / "tests/integration/crowd", "1000"]
    resident = {}
    for mode in ("off", "sampled", "exact"):
        environment = os.environ | {"MIRE_MEMORY": mode, "MALLOC_ARENA_MAX": "1"}
        runs = [subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=True, timeout=300) for _ in range(5)]
        resident[mode] = min(int(done.stdout) for done in runs)
    if resident["off"] < 0:
        return print("what a thousand threads take was not measured: this kernel has no smaps_rollup")
    for mode in ("sampled", "exact"):
        assert resident[mode] - resident["off"] <= 20 << 10, resident
    print(f"resident KiB of 1,000 threads: {resident}")


with tempfile.TemporaryDirectory() as name:
    for number, test in enumerate((on_demand, while_all_else_changes, of_modes_that_change, of_the_apps_own_allocator, of_trouble_and_health, of_a_killed_run, of_a_reserve_that_is_hardly_used, of_a_run_without_memory, of_a_leak_that_takes_a_moment,
                                   of_programs_as_they_are, of_its_own_addresses, of_a_forked_child, of_a_thousand_threads, of_objects, of_objects_of_a_library_loaded_later)):
        begun = time.monotonic()
        test(pathlib.Path(name) / str(number))
        print(f"{test.__name__} {time.monotonic() - begun:.1f} s")
