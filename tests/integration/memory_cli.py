#!/usr/bin/python3
"""`mire memory` on tables as a killed run leaves them, on reports, and on what is neither; its profiles as others read them."""

import gzip
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from protobuf import fields  # noqa: E402

SOURCE = pathlib.Path(os.environ.get("MIRE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = pathlib.Path(os.environ.get("MIRE_BINARY_DIR", SOURCE / "build/release"))
VECTORS = SOURCE / "schema/wire/vectors/valid"


def mire(*words, stdin=None):
    done = subprocess.run([BINARY / "server/mire", "memory", *words], capture_output=True, timeout=300, stdin=stdin)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def shows_tables(tables):
    """Categories with what they hold, and the names of the functions that asked for it."""
    code, out, err = mire(tables)
    assert code == 0 and err == "", (code, err)
    assert "app        mapview 8.0.38, process mapview (/usr/bin/mapview)\n" in out, out
    assert "live       14.1 MiB in 340 blocks\nmapped     8.0 MiB\n" in out and "mode       exact" in out, out
    rows = re.findall(r"^ +([\d.]+ \w+) +([\d,]+) +\S+ +([\d.]+ \w+) +([\d.]+ \w+)  (.+?)(?:   suspect.*)?$", out, re.M)
    assert [(row[0], row[1], row[4]) for row in rows] == [
        ("14.1 MiB", "300", "Malloc 64 KiB"), ("8.0 MiB", "1", "VM: stack"), ("25.0 KiB", "40", "MapTile")], rows
    gone = "-  in 1 category more, of which nothing is left\n"  # tiles, before they had a class
    assert out.endswith(" " * 10 + gone), out
    code, asked, _ = mire("--category", "Malloc 640", tables)
    assert code == 0 and re.search(r" 0 B +0 +\S+ +25\.0 KiB +640 B  Malloc 640\n$", asked), asked
    stacks = re.findall(r"^ +(\d+) %  (.+)\n((?:  .*\n)+?)(?= +\d| {3,}[\d.]+ |\Z)", out, re.M)
    assert re.search(r"67 %  9\.4 MiB in 200 blocks\n +1> load_map .*\n +draw_panel .*\n +run_app ", out), (stacks, out)
    assert re.search(r"33 %  4\.7 MiB in 100 blocks\n +1> draw_panel .*\n +run_app ", out), out
    code, out, _ = mire("--category", "MapTile", "--stacks", "0", tables)
    assert code == 0 and "MapTile" in out and "VM: stack" not in out and "run_app" not in out, out
    code, out, _ = mire("--top", "1", tables)
    assert code == 0 and "8.0 MiB  in 2 categories more\n" in out and gone in out, out
    code, out, _ = mire("--count", "--stacks", "0", tables)
    assert out.index("Malloc 64 KiB") < out.index("MapTile") < out.index("VM: stack"), out


def numbers(packed):
    return [value for _, value in fields(b"".join(b"\x08" + piece for piece in re.findall(rb"[\x80-\xff]*[\x00-\x7f]", packed)))]


def profile(tables, folder):
    """profile.proto by its own description, and by pprof where Go is installed."""
    path = folder / "held.pb.gz"
    assert mire("--pprof", path, tables) == (0, "", "")
    message = list(fields(gzip.decompress(path.read_bytes())))
    strings = [value.decode() for field, value in message if field == 6]
    assert strings[0] == ""
    types = [[strings[value] for _, value in fields(item)] for field, item in message if field == 1]
    assert types == [["alloc_objects", "count"], ["alloc_space", "bytes"], ["inuse_objects", "count"], ["inuse_space", "bytes"]], types
    names = {}
    for field, item in message:
        if field == 5:
            function = dict(fields(item))
            names[function[1]] = strings[function[2]]
    places = {}
    for field, item in message:
        if field == 4:
            location = dict(fields(item))
            places[location[1]] = names[dict(fields(location[4]))[1]]
    samples = {}
    for field, item in message:
        if field == 2:
            sample = dict(fields(item))
            label = dict(fields(sample[3]))
            assert strings[label[1]] == "category"
            samples[strings[label[2]], tuple(places[n] for n in numbers(sample[1]))] = numbers(sample[2])
    assert samples == {
        ("Malloc 64 KiB", ("load_map", "draw_panel", "run_app")): [200, 200 * 49152, 200, 200 * 49152],
        ("Malloc 64 KiB", ("draw_panel", "run_app")): [100, 100 * 49152, 100, 100 * 49152],
        ("VM: stack", ("load_map", "draw_panel", "run_app")): [0, 0, 1, 8 << 20],
        ("MapTile", ("draw_panel", "run_app")): [0, 0, 40, 40 * 640],
        ("Malloc 64 KiB", ("(stack not kept)",)): [7, 7 * 49152, 0, 0],  # freed again
        ("Malloc 640", ("(stack not kept)",)): [40, 40 * 640, 0, 0]}, samples  # tiles, before they had a class
    if not shutil.which("go"):
        return print("pprof itself was not asked: there is no Go here")
    home = dict(os.environ, HOME=str(folder), PPROF_TMPDIR=str(folder))
    top = subprocess.run(["go", "tool", "pprof", "-top", "-unit=B", path], capture_output=True, text=True, timeout=300,
                         env=home | {"GOCACHE": os.environ.get("GOCACHE", os.path.expanduser("~/.cache/go-build"))})
    assert top.returncode == 0 and "Type: inuse_space" in top.stdout, (top.stdout, top.stderr)
    assert re.search(r"18219008B .* load_map", top.stdout), top.stdout
    ever = subprocess.run(["go", "tool", "pprof", "-top", "-unit=B", "-sample_index=alloc_space", path], capture_output=True, text=True,
                          timeout=300, env=home | {"GOCACHE": os.environ.get("GOCACHE", os.path.expanduser("~/.cache/go-build"))})
    assert f"Showing nodes accounting for {307 * 49152 + 40 * 640}B, 100%" in ever.stdout, (ever.stdout, ever.stderr)


def collapsed(tables, folder):
    assert mire("--collapsed", folder / "held.txt", tables)[0] == 0
    lines = (folder / "held.txt").read_text().splitlines()
    assert sorted(lines) == sorted([f"run_app;draw_panel;load_map {200 * 49152}", f"run_app;draw_panel {100 * 49152}",
                                    f"run_app;draw_panel;load_map {8 << 20}", f"run_app;draw_panel {40 * 640}"]), lines


def reports():
    """Documents of the contract, from a file and from standard input."""
    every = VECTORS / "memory-every-field/report.json"
    code, out, err = mire(every)
    assert code == 0 and err == "", err
    for line in ("taken      footprint, after the tour, in the foreground",
                 "footprint  66.8 MiB, at most 67.7 MiB; limit 128.0 MiB, of which 76.3 MiB were used",
                 "explained  100 % of the footprint", "trail      1.9 MiB at 0.0 s, 28.6 MiB at 1.0 s, 66.8 MiB at 118.5 s",
                 "degraded   1 times", "lost       busy 3", "growth     counted over 60.0 s", "+9.4 MiB", "-4.4 KiB"):
        assert line in out, (line, out)
    assert re.search(r"\n +5\.7 MiB +- +\+4\.9 KiB +- +-  Allocator's own and free\n", out), out  # no things, so none to count
    for source, words in (("exit", "by its largest resident set (it grew after the last look)"), ("look", "as it was looked at last")):
        said = subprocess.run([BINARY / "server/mire", "memory", "-"], capture_output=True, text=True, timeout=300,
                              input=every.read_text().replace('"footprint_from": "now"', f'"footprint_from": "{source}"')).stdout
        assert f"footprint  66.8 MiB {words}, at most" in said, said
    with open(VECTORS / "memory-sampled-and-degraded/report.json", "rb") as file:
        code, out, _ = mire("-", stdin=file)
    assert code == 0 and "mode       sampled, one block in 1.0 MiB; all figures are estimates" in out, out
    assert "live       57.2 MiB +/- 11.4 MiB in 1,320 +/- 33,200 blocks" in out, out
    assert re.search(r"\n   82 %  46\.9 MiB \+/- 8\.3 MiB in 1,000 \+/- 390 blocks, grown by \+8\.9 MiB\n", out), out
    assert re.search(r"\n  100 %  8\.1 MiB in 1 mapping, stack not known\n", out), out  # a mapping is known for certain
    assert re.search(r"\+/- bytes +\+/- #  Category\n +57\.2 MiB +1,220 +\+9\.4 MiB +8\.6 MiB +400  Malloc 48", out), out
    assert "pages filled after that" not in out, out
    sampled = (VECTORS / "memory-sampled-and-degraded/report.json").read_text()
    assert "mapped     132.0 KiB; 8.1 MiB of addresses\n" in out and "132.0 KiB            1         0 B         0 B           0  VM: stack   of 8.1 MiB mapped\n" in out, out
    told = subprocess.run([BINARY / "server/mire", "memory", "--collapsed", "-", "-"], capture_output=True, text=True, timeout=300, input=sampled).stdout
    assert f"\n(unknown) {132 << 10}\n" in told, told  # as much as lies in memory
    said = subprocess.run([BINARY / "server/mire", "memory", "-"], capture_output=True, text=True, timeout=300,
                          input=sampled.replace("VM: stack", "VM: allocator")).stdout
    assert "mapped     0 B, besides 132.0 KiB that hold blocks; 8.1 MiB of addresses\n" in said, said
    assert "  VM: allocator   of 8.1 MiB mapped   holds blocks\n" in said, said
    late = sampled.replace('"explained_bytes": 66000000', '"explained_bytes": 56000000')
    for trigger, dead in (("foom", True), ("pressure", False)):
        said = subprocess.run([BINARY / "server/mire", "memory", "-"], capture_output=True, text=True, timeout=300,
                              input=late.replace('"foom"', f'"{trigger}"')).stdout
        assert "explained  80 % of the footprint\n" in said and ("looked at last: pages filled after that" in said) == dead, said
    hostile = every.read_text().replace('"mapview", "start', '"\\u001b[31mview\\u202e", "start').replace('"after the tour"', '"after\\u001b]0;x\\u0007"')
    said = subprocess.run([BINARY / "server/mire", "memory", "-"], capture_output=True, text=True, timeout=300, input=hostile).stdout
    assert "process ?[31mview?" in said and "after?]0;x?" in said and not re.search("[\x1b\x07\u202e]", said), said
    code, out, err = mire(VECTORS / "smallest/report.json")
    assert code == 1 and out == "" and "mire show" in err, err
    shown = subprocess.run([BINARY / "server/mire", "show", every], capture_output=True, text=True, timeout=300)
    assert shown.returncode == 0 and "Malloc 48.00 KiB" in shown.stdout and "Live bytes" in shown.stdout, shown


def refuses(tables, folder):
    assert mire()[0] == 2 and mire("--top")[0] == 2 and mire("--top", "x", tables)[0] == 2
    assert mire("--nothing", tables)[0] == 2 and mire("--pprof", "x", tables, tables)[0] == 2
    assert mire("/nonexistent")[0] == 1
    code, _, err = mire("--category", "Nothing", tables)
    assert code == 1 and "there is no category 'Nothing'" in err, err
    code, out, _ = mire("/nonexistent", tables)
    assert code == 1 and "Malloc 64 KiB" in out  # the others are shown all the same


def bears_damage(tables, folder):
    """Cut, overwritten, or both: an answer or a message, never a crash."""
    whole = tables.read_bytes()
    used = len(whole.rstrip(b"\0"))
    seed = int(os.environ.get("MIRE_SEED", 1))
    print(f"MIRE_SEED={seed}")
    rng = random.Random(seed)
    damaged = folder / "damaged.heap"
    for i in range(60):
        bytes_ = bytearray(whole[:rng.choice((len(whole), rng.randrange(used), rng.randrange(8192)))])
        for _ in range(rng.randrange(40)):
            if bytes_:
                # mostly where something stands: the header and the beginnings of the sections
                bytes_[rng.randrange(min(len(bytes_), rng.choice((1200, used))))] = rng.choice((0, 1, 127, 128, 255))
        damaged.write_bytes(bytes_)
        code, _, err = mire("--stacks", "1", damaged)
        assert code in (0, 1) and (code == 0 or err.startswith("mire memory: ")), (code, err)


with tempfile.TemporaryDirectory() as name:
    where = pathlib.Path(name)
    held = where / "held.heap"
    subprocess.run([BINARY / "tests/integration/heap_file", held], check=True, timeout=300)
    shows_tables(held)
    profile(held, where)
    collapsed(held, where)
    reports()
    refuses(held, where)
    bears_damage(held, where)
