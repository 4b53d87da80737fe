#!/usr/bin/env python3
"""integration/symbols-java - frames of Java and Kotlin with short names, and mappings that come after them.

A real mired. Reports are sent as an app for Android would; before its mapping comes, an issue goes by the short names, and afterwards the
same issue, by its number, goes by those of the source. A mapping is found by the id in the report, by what R8 wrote in place of a file's
name, or by the app's version and build; reports of other versions are left alone.
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from mired import MIRE, SOURCE, Mired, report_id, scratch, until  # noqa: E402

MAPPING = """\
# compiler: R8
# pg_map_id: {id}
com.example.shop.CartActivity -> a.b:
# {{"id":"sourceFile","fileName":"CartActivity.kt"}}
    1:3:void onCheckout(android.view.View):40:42 -> a
    4:4:int com.example.shop.Basket.sum(java.util.List):88:88 -> a
    4:4:void onCheckout(android.view.View):44:44 -> a
com.example.shop.Prices -> a.c:
# {{"id":"sourceFile","fileName":"Prices.kt"}}
    1:9:int total(int):12:20 -> a
    10:10:int draw(int):0:0 -> b
    # {{"id":"com.android.tools.r8.outlineCallsite","positions":{{"1":11,"2":12}}}}
    11:11:int draw(int):70:70 -> b
    12:12:int draw(int):75:75 -> b
com.example.shop.Shared -> a.d:
    1:2:void outline() -> a
    # {{"id":"com.android.tools.r8.outline"}}
"""
MADE = """\
com.example.shop.Cart$$ExternalSyntheticLambda7 -> a.e:
# {"id":"com.android.tools.r8.synthesized"}
    1:1:void run(com.example.shop.Cart):0:0 -> run
      # {"id":"com.android.tools.r8.synthesized"}
com.example.shop.Shared$1 -> a.f:
    1:2:long com.example.shop.Money.round(long):5:6 -> a
    1:2:void moved():0:0 -> a
      # {"id":"com.android.tools.r8.outline"}
com.example.shop.Broken -> a.g:
    1:1:void <init>():3:3 -> <init>
"""
METHODS = "1,9,com.example.shop.CartActivity,onCheckout,(Landroid/view/View;)V\n2,9,com.example.shop.Prices,total,(I)I\n"

PLATFORM = [("android.os.Looper", "loop", "Looper.java", 223), ("android.os.Handler", "dispatchMessage", "Handler.java", 106),
            ("android.view.View", "performClick", "View.java", 7448)]
HANDLER, LEAF = "com.example.shop.CartActivity.onCheckout", "com.example.shop.Prices.total"


def report(app, version, stacks, build="", image_id=None):
    """A hang of one sample a stack; a stack is (class, method, file, line) or (number,), outermost first."""
    texts, rows, nodes, leaves = [], [], [], []

    def text(value):
        if value not in texts:
            texts.append(value)
        return texts.index(value)

    for stack in stacks:
        at = 0
        for frame in stack:
            row = (-1, -1, -1, 0, frame[0]) if len(frame) == 1 else (text(frame[0]), text(frame[1]), text(frame[2]) if frame[2] else -1, frame[3], -1)
            if row not in rows:
                rows.append(row)
            nodes.append((at, rows.index(row)))
            at = len(nodes)
        leaves.append(at)
    columns = dict(zip(("class", "method", "file", "line", "number"), map(list, zip(*rows))))
    image = {"name": "/data/app/base.apk", "load": 0, "java": True} | ({"id": image_id} if image_id else {})
    return {
        "mire": 1, "id": report_id(), "kind": "event", "app": {"name": app, "version": version} | ({"build": build} if build else {}),
        "device": {"install": os.urandom(16).hex(), "os": "android", "arch": "aarch64"},
        "process": {"pid": 9, "name": "com.example.shop", "path": "/system/bin/app_process64"},
        "images": [image], "java": {"texts": texts} | columns,
        "frames": {"image": [0] * len(rows), "offset": list(range(len(rows)))},
        "nodes": {"up": [i + 1 - parent for i, (parent, _) in enumerate(nodes)], "frame": [row for _, row in nodes]},
        "event": {"begin_ns": 1, "duration_ms": 4000, "threshold_ms": 2000, "open": False,
                 "samples": {"at_ms": [100 * i for i in range(len(leaves))], "weight_ms": [100] * len(leaves), "node": leaves,
                             "state": "R" * len(leaves)}},
    }


class JavaTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = scratch("java")
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.mired = Mired(cls.folder)
        cls.mire, cls.key, cls.get, cls.issues = cls.mired.mire, cls.mired.key, cls.mired.get, cls.mired.issues

    @classmethod
    def tearDownClass(cls):
        cls.mired.stop()
        cls.scratch.cleanup()

    def send(self, document):
        key = self.keys.setdefault(document["app"]["name"], None) or self.key(document["app"]["name"], "ingest")
        self.keys[document["app"]["name"]] = key
        self.assertEqual(self.mired.ask("POST", "/api/v1/reports", key, document)[0], 202)
        return document

    keys = {}

    def only_issue(self, app, caller1):
        return until(f"{app} has the issue {caller1}", lambda: [one for one in self.issues(app) if one["caller1"] == caller1])[0]

    def mapping(self, name, text):
        path = self.folder / name
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        return path

    def becomes_named(self, app, before):
        now = self.only_issue(app, LEAF)
        self.assertEqual((now["id"], now["first_seen_at"], now["caller2"]), (before["id"], before["first_seen_at"], HANDLER))
        until("the job ends", lambda: all(job["state"] == "done" for job in self.get(f"/apps/{app}/rekey")["jobs"]))
        self.assertEqual(len(self.issues(app)), 1)

    def stack(self, app, issue, one):
        return json.dumps(self.get(f"/apps/{app}/issues/{issue['id']}/reports/{one['id']}"))

    def test_the_id_in_the_report(self):
        app = "by-id"
        sent = self.send(report(app, "1", [PLATFORM + [("a.b", "a", "SourceFile", 4), ("a.c", "a", "SourceFile", 3)]], image_id="5b46fdc0"))
        before = self.only_issue(app, "a.c.a")
        self.assertEqual(before["caller2"], "a.b.a")
        missing = self.get(f"/apps/{app}/symbols")["missing"]
        self.assertEqual([(one["build_id"], one["name"], one["arch"], one["reports"], one["version"]) for one in missing],
                         [("5b46fdc0", "base.apk", "java", 1, "")])
        self.mire("symbols", "upload", "--key", self.key(app, "symbols"), self.mapping("mapping-id.txt", MAPPING.format(id="5b46fdc")))
        self.becomes_named(app, before)
        self.assertEqual(self.get(f"/apps/{app}/symbols")["missing"], [])
        shown = self.stack(app, before, sent)
        for part in ('"com.example.shop.Basket.sum"', '"CartActivity.kt"', '"Prices.kt"', '"android.os.Looper.loop"'):
            self.assertIn(part, shown)
        flame = json.dumps(self.get(f"/apps/{app}/issues/{before['id']}/flame"))
        self.assertIn(LEAF, flame)
        self.assertNotIn("a.c.a", flame)
        self.send(report(app, "1", [PLATFORM + [("a.b", "a", "SourceFile", 2), ("a.c", "a", "SourceFile", 3)]], image_id="5b46fdc0"))
        until("one that comes later is in the same issue", lambda: self.only_issue(app, LEAF)["totals"]["reports"] == 2)

    def test_what_r8_wrote_for_a_file(self):
        app = "by-file"
        self.send(report(app, "1", [PLATFORM + [("a.b", "a", "r8-map-id-77aa55e", 4), ("a.c", "a", "r8-map-id-77aa55e", 3)]]))
        before = self.only_issue(app, "a.c.a")
        self.assertEqual([one["build_id"] for one in self.get(f"/apps/{app}/symbols")["missing"]], ["77aa55e0"])
        self.mire("symbols", "upload", "--key", self.key(app, "symbols"), self.mapping("mapping-file.txt", MAPPING.format(id="77aa55e")))
        self.becomes_named(app, before)

    def test_the_version_of_the_app(self):
        app = "by-version"
        stack = PLATFORM + [("a.b", "a", None, 4), ("a.c", "a", None, 3)]
        self.send(report(app, "1.2", [stack], build="7"))
        before = self.only_issue(app, "a.c.a")
        other = self.send(report(app, "1.3", [stack], build="8"))
        until("another build's names are not the same", lambda: len(self.issues(app)) == 2)
        missing = {one["version"]: one for one in self.get(f"/apps/{app}/symbols")["missing"]}
        self.assertEqual({version: one["build"] for version, one in missing.items()}, {"1.2": "7", "1.3": "8"})
        key, path = self.key(app, "symbols"), self.mapping("mapping-version.txt", MAPPING.format(id="0badcafe"))
        self.mire("symbols", "upload", "--key", key, "--version", "1.2", "--build", "7", path)
        now = self.only_issue(app, LEAF)
        self.assertEqual((now["id"], now["caller2"]), (before["id"], HANDLER))
        until("the job ends", lambda: all(job["state"] == "done" for job in self.get(f"/apps/{app}/rekey")["jobs"]))
        self.assertEqual(self.get(f"/apps/{app}/rekey")["jobs"][0]["done"], 1, "the report of 1.3 was left alone")
        self.assertEqual([one["version"] for one in self.get(f"/apps/{app}/symbols")["missing"]], ["1.3"])
        self.mire("symbols", "upload", "--key", key, "--version", "1.3", "--build", "8", path)
        until("both are one issue", lambda: [one["totals"]["reports"] for one in self.issues(app)] == [2])
        self.assertIn(LEAF, self.stack(app, now, other))

    def test_a_damaged_mapping_is_replaced_by_a_whole_one(self):
        """It ends where the function to blame would be named; that it is not what it was can be told by R8's hash alone."""
        app = "by-damaged"
        sent = self.send(report(app, "1", [PLATFORM + [("a.b", "a", "SourceFile", 4), ("a.c", "a", "SourceFile", 3)]], image_id="1234abcd"))
        before = self.only_issue(app, "a.c.a")
        head, body = MAPPING.format(id="1234abcd").split("# pg_map_id: 1234abcd\n")
        whole = f"{head}# pg_map_id: 1234abcd\n# pg_map_hash: SHA-256 {hashlib.sha256(body.encode()).hexdigest()}\n{body}"
        key = self.key(app, "symbols")
        upload = lambda text, **more: self.mire("symbols", "upload", "--key", key, self.mapping("mapping-damaged.txt", text), **more)  # noqa: E731
        damaged = whole[:whole.index("com.example.shop.Prices ->")]
        self.assertIn("1 damaged", upload(damaged, code=1))
        until("what it names is named", lambda: "com.example.shop.Basket.sum" in self.stack(app, before, sent))
        until("the job ends", lambda: all(job["state"] == "done" for job in self.get(f"/apps/{app}/rekey")["jobs"]))
        self.assertEqual([(one["build_id"], one["reports_with_names"]) for one in self.get(f"/apps/{app}/symbols")["missing"]], [("1234abcd", 1)])
        self.assertIn("0 stored, 1 there already", upload(damaged, code=1))
        self.assertIn("1 stored", upload(whole))
        self.becomes_named(app, before)
        self.assertEqual(self.get(f"/apps/{app}/symbols")["missing"], [])
        self.assertIn("0 stored, 1 there already", upload(whole))

    def test_a_version_is_of_one_mapping(self):
        key, path = self.key("one-mapping", "symbols"), self.mapping("one.txt", MAPPING.format(id="11111111"))
        self.assertIn("0 are there", self.mire("symbols", "upload", "--key", key, "--version", "1", SOURCE / "README.md", code=1))
        self.assertIn("2 are there", self.mire("symbols", "upload", "--key", key, "--version", "1", path,
                                               self.mapping("two.txt", MAPPING.format(id="22222222")), code=1))
        self.assertIn("--build goes with --version", self.mire("symbols", "upload", "--key", key, "--build", "1", path, code=2))
        program = pathlib.Path("/proc/self/exe").read_bytes()
        self.assertEqual(self.mired.ask("PUT", "/api/v1/symbols?name=x&version=1", key, program)[0], 422)

    def test_code_moved_out_of_several_places(self):
        """An outline stands for the place in its caller that its line tells, and for no function of its own."""
        app = "outlines"
        self.mire("symbols", "upload", "--key", self.key(app, "symbols"), self.mapping("outline.txt", MAPPING.format(id="0ff1ce00")))
        trunk = PLATFORM + [("a.b", "a", "SourceFile", 1), ("a.c", "b", "SourceFile", 10)]
        sent = self.send(report(app, "1", [trunk + [("a.d", "a", "SourceFile", line)] for line in (1, 2, 2)], image_id="0ff1ce00"))
        issue = self.only_issue(app, "com.example.shop.Prices.draw")
        shown = self.stack(app, issue, sent)
        self.assertNotIn("outline", shown)
        self.assertIn('"line": 75', shown)
        self.assertIn('"line": 70', shown)

    def test_calls_inlined_into_code_that_moved_and_frames_of_the_compiler(self):
        """A lambda class that R8 made has no place; a call inlined into an outline stands below the caller's line."""
        app, made = "compiler", MAPPING.format(id="0ff1ce01") + MADE
        self.mire("symbols", "upload", "--key", self.key(app, "symbols"), self.mapping("made.txt", made))
        stack = PLATFORM + [("a.e", "run", "SourceFile", 1), ("a.c", "b", "SourceFile", 10), ("a.f", "a", "SourceFile", 2)]
        sent = self.send(report(app, "1", [stack], image_id="0ff1ce01"))
        shown = self.stack(app, self.only_issue(app, "com.example.shop.Money.round"), sent)
        for gone in ("Lambda7", "moved", "a.e"):
            self.assertNotIn(gone, shown)
        self.assertIn('"line": 75', shown)

    def test_a_trace_reads_as_the_source_does(self):
        """`mire symbols look`: exceptions, log prefixes, modules, indents; what the mapping does not know stays to the byte."""
        trace = ("06-01 12:00:00 E App: java.lang.RuntimeException: a.b\n"
                 "\tat a.b.a(r8-map-id-1:4)\n"
                 "\tat app//a.c.a(SourceFile:2) ~[?:?]\n"
                 "\tat a.e.run(Unknown Source:1)\n"
                 "\tat android.os.Looper.loop(Looper.java:223)\n"
                 "Caused by: a.g: a.g\n"
                 "\tat a.g.h(SourceFile:6)\n"
                 "\t... 3 more\n")
        made = self.mapping("look.txt", MAPPING.format(id="0ff1ce02") + MADE)
        done = subprocess.run([MIRE, "symbols", "look", made], input=trace, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "06-01 12:00:00 E App: java.lang.RuntimeException: com.example.shop.CartActivity\n"
                         "\tat com.example.shop.Basket.sum(Basket.java:88)\n"
                         "\tat com.example.shop.CartActivity.onCheckout(CartActivity.kt:44)\n"
                         "\tat app//com.example.shop.Prices.total(Prices.kt:13) ~[?:?]\n"
                         "\tat android.os.Looper.loop(Looper.java:223)\n"
                         "Caused by: com.example.shop.Broken: com.example.shop.Broken\n"
                         "\tat com.example.shop.Broken.h(Broken.java:6)\n"
                         "\t... 3 more\n")

    def test_a_mapping_in_another_encoding(self):
        """Names that are not UTF-8 cost no report and are read as Latin-1."""
        app = "latin"
        text = MAPPING.format(id="0ff1ce03").replace("Prices", "Co\udcfbts")
        self.mire("symbols", "upload", "--key", self.key(app, "symbols"), self.mapping("latin.txt", text))
        sent = self.send(report(app, "1", [PLATFORM + [("a.b", "a", "SourceFile", 1), ("a.c", "a", "SourceFile", 3)]], image_id="0ff1ce03"))
        issue = self.only_issue(app, "com.example.shop.Coûts.total")
        self.assertIn(json.dumps("Coûts.kt"), self.stack(app, issue, sent))

    def test_numbers_of_a_methodmap(self):
        app = "numbers"
        self.send(report(app, "5.0", [[(1,), (2,)]]))
        before = self.only_issue(app, "method 2")
        self.mire("symbols", "upload", "--key", self.key(app, "symbols"), "--version", "5.0", self.mapping("methodmap.txt", METHODS))
        self.becomes_named(app, before)

    def test_names_that_were_never_short(self):
        """An app that does not shorten its names lacks nothing, and is the same in all its versions."""
        app = "plain"
        stack = PLATFORM + [("org.example.Main", "onClick", "Main.java", 7), ("org.example.Work", "run", "Work.kt", 30)]
        for version in ("1", "2"):
            self.send(report(app, version, [stack]))
        until("both are one issue", lambda: [one["totals"]["reports"] for one in self.issues(app)] == [2])
        self.assertEqual((self.issues(app)[0]["caller1"], self.issues(app)[0]["caller2"]), ("org.example.Work.run", "org.example.Main.onClick"))
        self.assertEqual(self.get(f"/apps/{app}/symbols")["missing"], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
