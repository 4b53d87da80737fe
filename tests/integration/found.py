#!/usr/bin/env python3
"""Reports are found by user, scene and tag: those that were sent so, as lists of an issue and of the app, `mire reports` and SQL have them.
A rare value far behind is found over several answers, each of which looks at 10,000 reports at most."""

import hashlib
import itertools
import json
import pathlib
import sys
import time
import unittest
import urllib.parse
import uuid

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]

import mired  # noqa: E402
from answers import answer_of  # noqa: E402
from cases import OwnApp  # noqa: E402

VECTOR = mired.SOURCE / "schema/wire/vectors/valid/samples-at-one-instant/report.json"
LOOKED_AT = 10000


def hash_of(user):
    return hashlib.sha256(b"mire:" + user.encode()).hexdigest()[:32]


class Found(OwnApp):
    settings = ("--workers=1",)

    def put(self, tags):
        return self.server.ask("PUT", self.path + "/settings", self.admin, {"name": self.app, "retention_days": None, "kept_tags": tags})

    def keep(self, *tags):
        status, _, body = self.put(list(tags))
        self.assertEqual(status, 200, body)
        self.assertEqual(answer_of(body, "setAppSettings")["kept_tags"], list(tags))

    def ask(self, path, name, **query):
        return self.get(path + ("?" + urllib.parse.urlencode(query) if query else ""), name)

    def send(self, contexts, install=None):
        """One report of today for each context; their ids."""
        sent = []
        for context in contexts:
            document = json.loads(VECTOR.read_text()) | {"id": mired.report_id(), "context": context}
            document["device"]["install"] = install or uuid.uuid4().hex
            document["event"]["begin_wall_ms"] = int(time.time() * 1000)
            status, _, body = self.server.ask("POST", "/api/v1/reports", self.ingest, document)
            self.assertEqual(status, 202, body)
            sent.append(document["id"])
        mired.until("all is worked on", lambda: self.server.sql("SELECT count(*) FROM inbox") == ["0"])
        return sent

    def issue(self):
        return "/issues/" + self.only_issue()["id"]

    def all(self, path, name, limit=7, **query):
        """Ids over all answers, and the number of answers."""
        found, cursor = [], {}
        for answers in itertools.count(1):
            page = self.ask(path + "/reports", name, limit=limit, **query, **cursor)
            self.assertLessEqual(len(page["reports"]), limit)
            found += [row["id"] for row in page["reports"]]
            if page["next"] is None:
                return found, answers
            cursor = {"cursor": page["next"]}

    def everywhere(self, ids, asked_by_command=True, **query):
        """The same reports in the list of the issue, in that of the app, and as the command prints them."""
        for path, name in ((self.issue(), "listReports"), ("", "findReports")):
            found, _ = self.all(path, name, **query)
            self.assertEqual(sorted(found), sorted(ids), query)
            self.assertEqual(len(found), len(set(found)))
        if not asked_by_command:
            return
        words = [f"--{name}={value}" for name, value in query.items()]
        said = self.server.mire("reports", "--app", self.app, "--limit", "200", *words, MIRE_KEY=self.admin)
        if ids:
            self.assertEqual(sorted(line.split()[-1] for line in said.splitlines()[1:]), sorted(ids), said)
        else:
            self.assertEqual(said, "No such report in this range.\n")

    def test_as_they_were_sent(self):
        self.keep("plan", "tenant.id")
        users, scenes, plans = [None, "4711", "anna@example.org"], [None, "消息 & more"], [None, "trial", "a=b, c"]
        contexts, truth = [], []
        for user, scene, plan, hashed in itertools.product(users, scenes, plans, (False, True)):
            context = {"tags": {"color": "red"}}
            if user:
                context |= {"user": hash_of(user) if hashed else user, "user_hashed": hashed}
            if scene:
                context["scene"] = scene
            if plan:
                context["tags"]["plan"] = plan
            contexts.append(context)
            truth.append((user, scene, plan))
        ids = self.send(contexts)
        for user, scene, plan in itertools.product(users, scenes, plans):
            query = {k: v for k, v in (("user", user), ("scene", scene), ("tag", plan and f"plan={plan}")) if v}
            matches = [one for one, (u, s, p) in zip(ids, truth) if user in (None, u) and scene in (None, s) and plan in (None, p)]
            if query:
                self.everywhere(matches, len(query) != 2, **query)
        self.everywhere([one for one, (u, _, _) in zip(ids, truth) if u == "4711"], user=hash_of("4711"))
        self.assertEqual(sorted(self.all("", "findReports")[0]), sorted(ids))
        self.assertEqual(self.server.sql(f"SELECT count(*) FROM event JOIN app USING (app_id) WHERE slug = '{self.app}' AND 'plan=trial' = ANY (tags)"),
                         [str(sum(p == "trial" for _, _, p in truth))])
        for nothing in ({"tag": "color=red"}, {"tag": "plan=tria"}, {"user": "nobody"}, {"scene": "消息"}):
            self.everywhere([], **nothing)
        for wrong in ("plan", "=trial", "plan="):
            self.assertEqual(self.server.ask("GET", f"{self.path}/reports?tag={wrong}", self.admin)[0], 400, wrong)

    def test_values_are_a_facet_of_the_issue(self):
        self.keep("plan", "tier")
        kinds = [("trial", "1"), ("trial", "2"), ("paid", "1"), (None, "1"), ("paid", None), (None, None)]
        install = uuid.uuid4().hex
        tags = lambda kind: {"tags": {k: v for k, v in zip(("plan", "tier"), kind) if v}}  # noqa: E731
        sent = list(zip(self.send([tags(kind) for kind in kinds for _ in range(4)], install), [kind for kind in kinds for _ in range(4)]))
        self.keep("tier", "plan")
        sent += list(zip(self.send([tags(kind) for kind in kinds for _ in range(3)]), [kind for kind in kinds for _ in range(3)]))

        def as_sent(left):
            for n, name in enumerate(("plan", "tier")):
                values = [kind[n] for _, kind in left if kind[n]]
                counts = {value: values.count(value) for value in values}
                for query in ({}, {"v": self.version}):
                    answer = self.get(self.issue() + "".join(f"?{k}={v}" for k, v in query.items()), "getIssue")
                    one, = (d for d in answer["distributions"] if d["name"] == f"tag:{name}")
                    self.assertEqual({v["key"]: v["reports"] for v in one["values"]}, counts)
                    self.assertEqual([v["reports"] for v in one["values"]], sorted(counts.values(), reverse=True))
                    for v in one["values"]:
                        self.assertAlmostEqual(v["share"], v["reports"] / len(values), 3)
                        self.assertIn(v["lift"], (None, 1))
                rows = self.server.sql(f"SELECT tag, count(*) FROM event JOIN app USING (app_id), unnest(tags) tag WHERE slug = '{self.app}'"
                                f" AND tag LIKE '{name}=%' GROUP BY 1")
                self.assertEqual(sorted(rows), sorted(f"{name}={value}|{count}" for value, count in counts.items()))

        self.version = json.loads(VECTOR.read_text())["app"]["version"]
        as_sent(sent)
        status, _, body = self.server.ask("POST", self.path + "/forget", self.admin, {"install": install, "preview": False, "reason": "asked"})
        self.assertEqual(status, 200, body)
        mired.until("they are taken out", lambda: len(self.all("", "findReports")[0]) == 3 * len(kinds))
        mired.until("rollups are made", lambda: self.server.sql("SELECT count(*) FROM rollup_due") == ["0"])
        as_sent(sent[-3 * len(kinds):])

    def test_names_that_are_kept(self):
        for wrong in ([f"n{i}" for i in range(9)], ["plan", "plan"], ["a b"], [""], ["x" * 33], ["naïve"], "plan", [7]):
            self.assertEqual(self.put(wrong)[0], 422, wrong)
        first = self.send([{"tags": {"n0": "before"}}])
        self.keep(*[f"n{i}" for i in range(8)])
        second = self.send([{"tags": {f"n{i}": "x" * 1000 if i == 7 else "v" for i in range(10)}}])
        self.everywhere([], tag="n0=before")
        self.everywhere(second, tag="n6=v")
        self.everywhere(second, tag="n7=" + "x" * 1000)
        self.everywhere([], tag="n8=v")
        self.keep()
        third = self.send([{"tags": {"n0": "v"}}])
        self.everywhere(second, tag="n0=v")
        self.assertEqual(sorted(self.all("", "findReports")[0]), sorted(first + second + third))
        audit = self.server.ask("GET", f"{self.path}/audit", self.admin)
        self.assertIn(b"tags kept: n0 n1 n2 n3 n4 n5 n6 n7", audit[2])

    def test_forgotten_reports_are_not_found(self):
        self.keep("plan")
        install = uuid.uuid4().hex
        gone = self.send([{"user": "4711", "scene": "Cart", "tags": {"plan": "trial"}}] * 3, install)
        left = self.send([{"user": "4711", "scene": "Cart", "tags": {"plan": "trial"}}] * 2)
        self.everywhere(gone + left, user="4711")
        status, _, body = self.server.ask("POST", self.path + "/forget", self.admin, {"install": install, "preview": False, "reason": "asked"})
        self.assertEqual(status, 200, body)
        mired.until("they are taken out", lambda: len(self.all("", "findReports")[0]) == 2)
        for query in ({"user": "4711"}, {"scene": "Cart"}, {"tag": "plan=trial"}):
            self.everywhere(left, **query)

    def test_a_rare_value_behind_many_others(self):
        self.keep("plan")
        rare, = self.send([{"user": "4711", "scene": "Cart", "tags": {"plan": "rare"}}])
        self.server.sql(f"""INSERT INTO event SELECT r.* FROM event e, generate_series(1, {LOOKED_AT + 50}) n, jsonb_populate_record(e, jsonb_build_object(
            'report_id', gen_random_uuid(), 'user_hash', NULL, 'scene', '', 'tags', '[]'::jsonb,
            'occurred_at', e.occurred_at + n * interval '1 us')) r WHERE e.report_id = '{rare}'""")
        self.server.sql("ANALYZE event")
        for path, name in ((self.issue(), "listReports"), ("", "findReports")):
            for query in ({"scene": "Cart"}, {"tag": "plan=rare"}):
                first = self.ask(path + "/reports", name, **query)
                self.assertEqual(first["reports"], [], query)
                self.assertEqual(self.all(path, name, **query), ([rare], 2))
            self.assertEqual(self.all(path, name, user="4711"), ([rare], 1))
        self.everywhere([rare], tag="plan=rare")


if __name__ == "__main__":
    unittest.main()
