#!/usr/bin/python3
"""A rollout from its author's hands to a device: a real mired, `mire rollout`, and an app that links libmire.

That shares of a million installations are as asked is unit/sdk/rollout.
"""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import jsonschema  # noqa: E402
from answers import answer_of  # noqa: E402
from mired import BINARY, SOURCE, Mired, scratch, until  # noqa: E402

ROLLOUT = jsonschema.Draft202012Validator(json.loads((SOURCE / "schema/wire/rollout.schema.json").read_text()))
OFF, EXACT, SAMPLED = range(3)  # modes as the tables have them
INSTALL = "00112233445566778899aabbccddeeff"


class RolloutTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = scratch("rollout")
        cls.mired = Mired(pathlib.Path(cls.scratch.name))

    @classmethod
    def tearDownClass(cls):
        cls.mired.stop()
        cls.scratch.cleanup()

    def setUp(self):
        self.app = self.id().rsplit("test_")[-1].replace("_", "-")[:40]
        self.ingest, self.author = self.mired.key(self.app, "ingest"), self.mired.key(self.app, "rollout")
        self.path = f"/api/v1/apps/{self.app}/rollout"

    def device(self, etag=None, **facts):
        query = "&".join(f"{name}={value}" for name, value in ({"install": INSTALL} | facts).items())
        headers = {"If_None_Match": etag} if etag else {}
        status, got, body = self.mired.ask("GET", f"/api/v1/rollout?{query}", self.ingest, **headers)
        if status == 200:
            ROLLOUT.validate(json.loads(body))
        return status, got["ETag"], json.loads(body) if body else None

    def shares(self, **facts):
        return {name: plugin["ppm"] for name, plugin in self.device(**facts)[2]["plugins"].items()}

    def current(self, version=None):
        status, _, body = self.mired.ask("GET", self.path + (f"?version={version}" if version else ""))
        assert status == 200, body
        return answer_of(body, "getRollout")

    def put(self, base, rules, author="kim", reason="because", key=None):
        return self.mired.ask("PUT", self.path, self.author if key is None else key,
                              {"base": base, "author": author, "reason": reason, "rules": rules})

    def change(self, *words):
        return self.mired.mire("rollout", *words, "--key", self.author, "--reason", f"to see {words[0]}")

    def start_app(self, store, flush_ms=60000):
        return subprocess.Popen([BINARY / "tests/integration/rollout_app", self.mired.url, self.ingest, store, "internal", str(flush_ms)],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def run_app(self, store):
        """What it prints. It hangs once it has the document that holds now."""
        version = self.current()["version"]
        app = self.start_app(store)
        until("the app has the document", lambda: self.kept(store) and self.kept(store)["version"] == version or app.poll() is not None)
        return app.communicate("\n", timeout=300)[0]

    def run_app_alone(self, store):
        """The same where there is no server."""
        url, self.mired.url = self.mired.url, "http://127.0.0.1:9"
        app = self.start_app(store, 0)
        self.mired.url = url
        return app.communicate("\n", timeout=300)[0]

    @staticmethod
    def kept(store):
        """The document in the store."""
        try:
            return json.loads((pathlib.Path(store) / "rollout").read_bytes().split(b"\n", 1)[1])
        except (OSError, IndexError):
            return None

    def reports(self):
        _, _, body = self.mired.ask("GET", f"/api/v1/apps/{self.app}/overview?t=1h")
        overview = json.loads(body)
        return overview["totals"]["reports"] + overview["waiting"]

    def test_device_gets_its_class_and_304_until_that_changes(self):
        self.assertEqual(self.shares(), {"hang": 20000, "memory": 10000, "exit": 100000, "session": 100000})
        self.assertEqual(self.shares(channel="gray")["hang"], 1000000)
        status, etag, document = self.device(version="8.1")
        self.assertEqual((status, document["version"]), (200, 0))
        self.assertEqual(self.device(etag=etag, version="8.1"), (304, etag, None))
        rules = self.current()["rules"]
        rules["rules"].insert(0, {"name": "old", "when": {"versions": {"to": "8"}}, "plugins": {"hang": {"probability": 0.5}}})
        self.assertEqual(self.put(0, rules)[0], 201)
        self.assertEqual(self.shares(version="7.9")["hang"], 500000)
        self.assertEqual(self.shares(version="8.1")["hang"], 20000)
        self.assertEqual(self.device(etag=etag, version="8.1")[0], 200, "the version is another one")
        self.assertEqual(self.mired.ask("GET", "/api/v1/rollout", self.author)[0], 401, "a key of another scope")
        self.assertEqual(self.mired.ask("GET", "/api/v1/rollout")[0], 401)

    def decided(self, **facts):
        query = "&".join(f"{name}={value}" for name, value in facts.items())
        status, _, body = self.mired.ask("GET", f"{self.path}/device?{query}")
        self.assertEqual(status, 200, body)
        return answer_of(body, "getRolloutDevice")

    def test_one_device_is_told_what_it_gets_and_by_which_rule(self):
        gray = {one["plugin"]: one for one in self.decided(channel="gray", install=INSTALL)["plugins"]}
        self.assertEqual({(one["rule"], one["on"], one["ppm"]) for one in gray.values()}, {("inside", True, 1000000)})
        shares = self.decided()["plugins"]
        self.assertEqual([(one["rule"], one["ppm"], one["on"]) for one in shares][:2], [("public", 20000, None), ("public", 10000, None)])
        self.change("set", self.app, "hang=50")
        installs = [f"{n:032x}" for n in range(400)]
        first = {one for one in installs if self.decided(install=one)["plugins"][0]["on"]}
        self.assertTrue(140 < len(first) < 260, len(first))
        self.change("set", self.app, "hang=80")
        more = {one for one in installs[:100] if self.decided(install=one)["plugins"][0]["on"]}
        self.assertTrue(first & set(installs[:100]) <= more, "who was in stays in")
        self.change("kill", self.app)
        dead = self.decided(install=INSTALL, channel="gray")
        self.assertEqual((dead["kill"], {one["on"] for one in dead["plugins"]}), (True, {False}))
        self.assertEqual(self.mired.ask("GET", self.path + "/device?install=me")[0], 400)

    def test_a_device_does_what_is_told_of_it(self):
        with tempfile.TemporaryDirectory() as store:
            self.run_app(store)
            kept = (pathlib.Path(store) / "install").read_bytes()
        install = re.search(b"[0-9a-f]{32}", kept).group().decode()
        bucket = self.decided(install=install, channel="internal")["plugins"][0]["bucket"]
        for share, on in ((bucket + 1, True), (bucket, False)):
            rules = self.current()["rules"]
            rules["rules"] = [{"name": "all", "plugins": {"hang": {"probability": share / 1e6}}}]
            self.assertEqual(self.put(self.current()["version"], rules)[0], 201)
            self.assertEqual(self.decided(install=install)["plugins"][0]["on"], on)
        self.assertEqual(self.decided(install=install)["plugins"][1]["rule"], None)

    def test_the_answers_of_devices_are_told_by_channel(self):
        self.assertEqual(self.current()["answered"], [])
        self.mired.sql(f"""INSERT INTO version (app_id, version, first_seen) SELECT app_id, '1', now() FROM app WHERE slug = '{self.app}'""")
        for channel, plugins, count in (("public", 8, 900), ("public", 9, 100), ("gray", 15, 50)):
            self.mired.sql(f"""INSERT INTO session_day SELECT 0, (now() AT TIME ZONE 'UTC')::date, app_id, version_id, '{channel}', {plugins}, {count}, {count},
                {count}, 1, 0, {count}, {count}, 1, 0, 0, 0, 0, 0, 0 FROM version JOIN app USING (app_id) WHERE slug = '{self.app}'""")
        told = {one["channel"]: one for one in self.current()["answered"]}
        self.assertEqual((told["public"]["sessions"], told["public"]["on"]), (1000, {"hang": 100, "memory": 0, "exit": 0, "session": 1000}))
        self.assertEqual(told["gray"]["on"], {"hang": 50, "memory": 50, "exit": 50, "session": 50})

    def test_every_change_is_a_version_that_can_be_gone_back_to(self):
        first = self.current()
        self.assertEqual((first["version"], first["made_at"], first["history"]), (0, None, []))
        self.assertEqual(self.change("set", self.app, "hang=5", "memory=0.25"), "version 1 is in force\n")
        self.assertEqual(self.shares(), {"hang": 50000, "memory": 2500, "exit": 100000, "session": 100000})
        self.change("set", self.app, "hang=50%", "--rule", "inside")
        self.assertEqual(self.shares(channel="internal")["hang"], 500000)
        self.change("kill", self.app)
        self.assertTrue(self.device()[2]["kill"])
        self.assertIn("KILLED", self.mired.mire("rollout", "show", self.app))
        self.change("back", self.app, "1")
        document = self.device()[2]
        self.assertEqual((document["version"], document["kill"]), (4, False))
        self.assertEqual(self.shares(channel="internal")["hang"], 1000000)
        self.assertEqual(self.current()["rules"], self.current(1)["rules"])
        self.assertEqual([(row["version"], row["author"], row["reason"]) for row in self.current()["history"]],
                         [(4, "kim", "to see back"), (3, "kim", "to see kill"), (2, "kim", "to see set"), (1, "kim", "to see set")])
        history = self.mired.mire("rollout", "history", self.app).splitlines()
        self.assertEqual([line.split()[0] for line in history], ["VERSION", "4", "3", "2", "1"])

    def test_ramp_begins_pauses_and_goes_back(self):
        ramp = lambda *words, code=0: self.mired.mire("rollout", "ramp", self.app, "hang", *words, "--key", self.author, "--reason", "to see", code=code)
        self.assertEqual(ramp("5,20,100", "--hold", "2", "--guard", "cpu=1", "--on-guard", "back"), "version 1 is in force\n")
        self.assertEqual(self.shares()["hang"], 50000)
        found, = self.current()["ramps"]
        self.assertEqual((found["state"], found["step"], found["steps_ppm"], found["before_ppm"], found["hold_s"], found["backs"]),
                         ("running", 0, [50000, 200000, 1000000], 20000, 7200, True))
        self.assertEqual((found["crash_points"], found["cpu_percent"], found["reports_per_hour"]), (0.1, 1, 0))
        self.assertEqual(ramp("pause"), "version 1 is in force\n")
        self.assertEqual(self.current()["ramps"][0]["state"], "paused")
        self.assertIn("pause of a running ramp", ramp("pause", code=1))
        self.assertEqual(ramp("resume"), "version 2 is in force\n")
        self.assertEqual(ramp("back"), "version 3 is in force\n")
        self.assertEqual((self.current()["ramps"][0]["state"], self.shares()["hang"]), ("stopped", 20000))
        self.assertIn("rise", ramp("5,3", code=1))
        self.assertIn("No rule", ramp("5", "--rule", "nobody", code=1))
        self.assertEqual(self.current()["version"], 3)

    def test_rules_travel_through_files(self):
        rules = self.mired.mire("rollout", "get", self.app)
        file = pathlib.Path(self.scratch.name) / "rules.json"
        file.write_text(rules.replace('"fetch_s":3600', '"fetch_s": 900'))
        self.change("put", self.app, str(file))
        self.assertEqual(self.device()[2]["fetch_s"], 900)
        self.assertEqual(self.mired.mire("rollout", "get", self.app, "1"), self.mired.mire("rollout", "get", self.app))
        self.assertIn("fetch_s", self.mired.mire("rollout", "get", self.app))

    def test_what_cannot_be_is_refused_and_changes_nothing(self):
        good = self.current()["rules"]
        self.assertEqual(self.put(0, good)[0], 201)
        status, _, body = self.put(0, good)
        self.assertEqual(status, 409, "made from a version that no longer holds")
        answer_of(body, "problem")
        for base, rules, author, reason in ((1, {"rules": [{"name": "x", "plugins": {"hang": {"probability": 2}}}]}, "k", "r"),
                                            (1, good, "", "r"), (1, good, "k", ""), (1, [], "k", "r"), (-1, good, "k", "r")):
            self.assertEqual(self.put(base, rules, author, reason)[0], 422)
        self.assertIn('"path":"/rules/rules/0/plugins/hang/probability"',
                      self.put(1, {"rules": [{"name": "x", "plugins": {"hang": {"probability": 2}}}]})[2].decode())
        self.assertEqual(self.mired.ask("PUT", self.path, self.author, b'{"base":1,')[0], 400)
        other = self.mired.key("other-app", "rollout")
        for key in ("nonsense", self.ingest, other):
            self.assertEqual(self.put(1, good, key=key)[0], 401)
        self.assertEqual(self.put(1, good, key="")[0], 403, "without a key the header is missing that a foreign page cannot send")
        back = {"base": 1, "author": "k", "reason": "r", "to": 7}
        self.assertEqual(self.mired.ask("POST", self.path + "/back", self.author, back)[0], 404)
        self.assertEqual(self.mired.ask("GET", self.path + "?version=7")[0], 404)
        self.assertIn("reason", self.mired.mire("rollout", "set", self.app, "hang=1", "--key", self.author, code=2))
        self.assertIn("shares look like", self.mired.mire("rollout", "set", self.app, "lag=1", "--key", self.author, "--reason", "x", code=2))
        self.assertEqual(self.current()["version"], 1)

    def rates(self):
        _, _, body = self.mired.ask("GET", f"/api/v1/apps/{self.app}/rates?t=24h")
        return answer_of(body, "getRates")

    def test_sessions_become_rates(self):
        self.assertEqual(self.rates()["total"]["lag_percent"], None)
        rules = {"rules": [{"name": "all", "plugins": {"hang": {"probability": 1}, "exit": {"probability": 1}, "session": {"probability": 1}}}]}
        self.put(0, rules)
        store = tempfile.mkdtemp(dir=self.scratch.name)
        for run in range(3):
            self.run_app(store)
        rules["rules"][0]["plugins"] |= {"hang": {"probability": 0}, "session": {"probability": 1}}
        self.put(1, rules)  # one more session as a control
        for run in range(3):
            self.run_app(store)
        until("the records are counted", lambda: self.rates()["total"]["records"] >= 5)
        rates = self.rates()
        total, version = rates["total"], rates["versions"][0]
        self.assertEqual((total["records"], total["sessions"]), (5, 5), "each run is told by the next")
        self.assertEqual(total["lag_percent"]["value"], 100, "every session that was watched had its hang")
        self.assertTrue(0 < total["lag_percent"]["low"] < 100)
        self.assertTrue(0 < total["hang_s_per_hour"]["value"] < 3600, total)
        self.assertTrue(total["ends"] >= 3 and total["foom_percent"]["value"] == 0, total)
        self.assertTrue(0 < total["sdk_cpu_percent"] < 100, total)
        self.assertEqual((version["version"], version["records"], len(version["days"])), ("2.1", 5, 1))
        self.assertEqual(self.mired.ask("GET", f"/api/v1/apps/{self.app}/rates?channel=public")[2].count(b'"records":0'), 1)
        _, _, body = self.mired.ask("GET", f"/api/v1/apps/{self.app}/overview?t=1h")
        self.assertEqual((json.loads(body)["waiting"], json.loads(body)["dead_letters"]), (0, 0))

    def test_losses_that_devices_tell_are_counted_once(self):
        told = {"drops": {"full": 3, "suppressed": 7, "who-knows": 2}}
        vectors = SOURCE / "schema/wire/vectors"
        records = ["valid/every-field/report.json", "session/valid/every-field/document.json", "session/valid/smallest/document.json"]
        for number, name in enumerate(records):
            record = json.loads((vectors / name).read_text()) | told | {"id": f"019aa3d3-31f9-7000-8000-{number:012x}"}
            for _ in range(2):  # the same again is the same
                status, _, body = self.mired.ask("POST", "/api/v1/reports", self.ingest, record)
                self.assertIn(status, (200, 202), body)
        want = [{"reason": "suppressed", "count": 21}, {"reason": "full", "count": 9}, {"reason": "other", "count": 6}]
        until("the losses are counted", lambda: self.rates()["losses"] == want)

    def test_app_inside_reports_and_the_share_is_told(self):
        store = tempfile.mkdtemp(dir=self.scratch.name)
        self.assertEqual(self.run_app(store), "start MIRE_OK\nflush MIRE_OK\nstop MIRE_OK\n")
        self.assertGreaterEqual(self.reports(), 1)
        self.assertEqual(self.kept(store)["plugins"]["hang"]["ppm"], 1000000)

    def test_kill_is_obeyed_at_once_and_after_a_new_start(self):
        store = tempfile.mkdtemp(dir=self.scratch.name)
        self.change("kill", self.app)
        self.assertEqual(self.run_app(store), "start MIRE_OK\nflush MIRE_OK\nstop MIRE_OK\n")  # watched until it asked
        self.run_app_alone(store)  # knows it from the disk
        self.assertEqual(self.reports(), 0)
        self.assertEqual(os.listdir(os.path.join(store, "out")), [], "nothing was even kept")
        self.change("revive", self.app)
        self.run_app(store)  # starts off, and learns that it may
        self.assertEqual(self.reports(), 0)
        self.run_app(store)
        self.assertGreaterEqual(self.reports(), 1)

    def test_parameters_hold_within_the_sdks_bounds(self):
        store = tempfile.mkdtemp(dir=self.scratch.name)
        rules = {"rules": [{"name": "all", "plugins": {"hang": {"probability": 1, "parameters": {"foreground_ms": 60000}}}}]}
        self.put(0, rules)
        self.run_app(store)  # 800 ms are no hang any more, as soon as it has asked
        self.assertEqual(self.reports(), 0)
        rules["rules"][0]["plugins"]["hang"]["parameters"]["foreground_ms"] = 1  # the least is 250
        self.put(1, rules)
        self.run_app(store)
        self.assertGreaterEqual(self.reports(), 1)

    def memory_of(self, rules, is_reached):
        """Tables of an app that begins with its own options and learns of the rules while it runs: what they say in the end."""
        store = pathlib.Path(tempfile.mkdtemp(dir=self.scratch.name))
        self.put(self.current()["version"], {"rules": [{"name": "all", "plugins": {"hang": {"probability": 1}, "memory": rules}}]})
        app = self.start_app(store)
        self.addCleanup(app.kill)
        self.assertEqual(app.stdout.readline(), "start MIRE_OK\n")
        heap, = (store / "box").glob("*.heap")

        def dump():
            done = subprocess.run([BINARY / "tests/oracle/heap_dump", heap], stdout=subprocess.PIPE, timeout=300)
            facts = json.loads(done.stdout)["facts"] if done.returncode == 0 else {}
            return is_reached(facts) and facts

        facts = until("the rules are obeyed", dump)
        app.communicate("\n", timeout=300)
        return facts

    def test_memory_parameters_reach_an_app_that_runs(self):
        facts = self.memory_of({"probability": 1, "parameters": {"mode": "exact"}}, lambda facts: facts.get("mode") == EXACT)
        self.assertEqual(facts["mode"], EXACT)
        facts = self.memory_of({"probability": 1, "parameters": {"interval_bytes": 65536}}, lambda facts: facts.get("interval") == 65536)
        self.assertEqual((facts["mode"], facts["interval"]), (SAMPLED, 65536))
        facts = self.memory_of({"probability": 1, "parameters": {"mode": "off"}}, lambda facts: facts.get("mode") == OFF)
        self.assertEqual(facts["mode"], OFF)

    TOLD = {"app state": "visible", "scene": "Cart", "user, hashed": hashlib.sha256(b"mire:4711").hexdigest()[:32], "tag plan": "trial",
            "tag flag.new-cart": "on", "tag thermal": "fair", "breadcrumb": "opened the cart"}

    def told(self, known):
        """What each report that is new says of its context, without amounts."""
        until("its reports are there", lambda: self.reports() > len(known) and json.loads(
            self.mired.ask("GET", f"/api/v1/apps/{self.app}/overview?t=1h")[2])["waiting"] == 0)
        found = []
        for issue in self.mired.issues(self.app):
            path = f"/apps/{self.app}/issues/{issue['id']}/reports"
            for row in self.mired.get(path)["reports"]:
                if row["id"] not in known:
                    known.add(row["id"])
                    facts = {fact["name"].split(",")[0] if fact["name"].startswith("breadcrumb") else fact["name"]: fact["value"]
                             for fact in self.mired.get(f"{path}/{row['id']}")["facts"]}
                    found.append({name: facts[name] for name in facts if name in self.TOLD or name.startswith("tag ")})
        self.assertTrue(found)
        return found

    def test_parts_of_the_context_are_left_out(self):
        store, known = tempfile.mkdtemp(dir=self.scratch.name), set()
        self.run_app(store)
        for told in self.told(known):
            for room in ("tag free_memory", "tag free_disk"):
                self.assertRegex(told.pop(room), "^[0-9]+ MiB$")
            self.assertEqual(told, self.TOLD)
        left_out = {"state": ["app state"], "scene": ["scene"], "user": ["user, hashed"], "crumbs": ["breadcrumb"], "flags": ["tag flag.new-cart"],
                    "tag:plan": ["tag plan"], "tag:thermal": ["tag thermal"], "tags": [name for name in self.TOLD if name.startswith("tag ")]}
        for words in (["user", "crumbs", "flags", "tag:plan"], ["state", "scene", "tag:thermal"], ["tags"], list(left_out)):
            rules = self.current()["rules"]
            for rule in rules["rules"]:
                rule["leave_out"] = words if rule["name"] == "inside" else ["tag:of-nobody"]
            self.assertEqual(self.put(self.current()["version"], rules)[0], 201)
            self.run_app(store)
            gone = [name for word in words for name in left_out[word]]
            for told in self.told(known):
                rest = {name: value for name, value in told.items() if not name.startswith("tag free_")}
                self.assertEqual(rest, {name: value for name, value in self.TOLD.items() if name not in gone}, words)
                self.assertEqual("tag free_disk" in told, "tags" not in words)
        self.assertIn("reports leave out: state scene user", self.mired.mire("rollout", "show", self.app))
        rules["rules"][0]["leave_out"] = ["name"]
        status, _, body = self.put(self.current()["version"], rules)
        self.assertEqual(status, 422, body)
        self.assertEqual(json.loads(body)["path"], "/rules/rules/0/leave_out")
        self.die(store)  # knows the words
        self.run_app(store)
        self.assertTrue(all(not told for told in self.told(known)), "the end of the run that was killed, and the next run")

    def die(self, store):
        """A run that is killed in its hang; it stays in the store."""
        url, self.mired.url = self.mired.url, "http://127.0.0.1:9"
        app = self.start_app(store, 0)
        self.mired.url = url
        app.stdin.write("\n")
        app.stdin.flush()
        time.sleep(3)  # its threshold, and time for the check thread to get a processor
        app.kill()
        app.communicate(timeout=300)

    def test_damaged_document_leaves_the_apps_own_options(self):
        store = pathlib.Path(tempfile.mkdtemp(dir=self.scratch.name))
        self.change("kill", self.app)
        (store / "rollout").write_bytes(b'"etag"\n{"mire_rollout": 1, "kill": tr')
        self.run_app_alone(store)
        self.assertEqual(len(os.listdir(store / "out")), 1, "watched, and kept for later")

    def test_mire_run_asks_for_its_program(self):
        store = tempfile.mkdtemp(dir=self.scratch.name)
        program = "import select,time\nselect.poll().poll(20)\nend=time.thread_time()+1\nwhile time.thread_time()<end: pass\nselect.poll().poll(20)\n"
        words = [BINARY / "sdk/mire-run", "--app", "rollout-run", "--server", self.mired.url, "--key", self.ingest, "--store",
                 store, "--threshold", "500", "--", "/usr/bin/python3", "-c", program]
        subprocess.run(words, check=True, timeout=300)
        self.assertGreaterEqual(self.reports(), 1)
        self.change("kill", self.app)
        subprocess.run(words, check=True, timeout=300)  # the document of before: watched; killed before it is sent
        self.assertEqual(self.kept(store)["kill"], True)
        subprocess.run(words, check=True, timeout=300)
        self.assertGreaterEqual(self.reports(), 1)


if __name__ == "__main__":
    unittest.main()
