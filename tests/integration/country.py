#!/usr/bin/env python3
"""The country that a trusted proxy tells is a facet of issues and of rates, and nobody else's word counts."""

import collections
import http.client
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

VECTORS = mired.SOURCE / "schema/wire/vectors"
PROXY, OTHER = "127.0.0.2", "127.0.0.1"
SENT = [(PROXY, "DE", "DE"), (PROXY, "de", "DE"), (PROXY, "JP", "JP"), (PROXY, "DE", "DE"), (PROXY, "XX", ""), (PROXY, "deu", ""),
        (PROXY, "D1", ""), (PROXY, "", ""), (PROXY, None, ""), (OTHER, "FR", ""), (OTHER, None, "")]


class Country(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = mired.scratch("country")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.server = mired.Mired(pathlib.Path(cls.scratch.name), f"--trusted-proxies={PROXY}", "--proxy-country-header=X-Country")
        cls.addClassCleanup(cls.server.stop)
        cls.ingest, cls.admin = cls.server.key("shop", "ingest"), cls.server.key("shop", "admin")
        mired.until("the key is known", lambda: cls.server.ask("GET", "/api/v1/rollout", cls.ingest)[0] == 200)

    def send(self, body, come_from, country, media_type="application/vnd.mire.report+json"):
        port = urllib.parse.urlsplit(self.server.url).port
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=300, source_address=(come_from, 0))
        headers = {"Authorization": f"Bearer {self.ingest}", "Content-Type": media_type}
        line.request("POST", "/api/v1/reports", body, headers | ({} if country is None else {"X-Country": country}))
        answer = line.getresponse()
        text = answer.read()
        line.close()
        self.assertEqual(answer.status, 202, text)

    def get(self, path, name, **query):
        status, _, body = self.server.ask("GET", f"/api/v1/apps/shop/{path}?{urllib.parse.urlencode(query)}", self.admin)
        self.assertEqual(status, 200, body)
        return answer_of(body, name)

    def send_like(self, vector, edit):
        for come_from, country, _ in SENT:
            document = json.loads((VECTORS / vector).read_text()) | {"id": mired.report_id()}
            document["device"]["install"] = uuid.uuid4().hex
            edit(document)
            self.send(json.dumps(document).encode(), come_from, country)

    def test_is_a_facet(self):
        now_ms = int(time.time() * 1000)
        self.send_like("valid/samples-at-one-instant/report.json", lambda document: document["event"].update(begin_wall_ms=now_ms))
        self.send_like("session/valid/smallest/document.json", lambda document: document["session"].update(begin_wall_ms=now_ms))
        self.send((mired.SOURCE / "tests/fuzz/corpus/anr/three-threads").read_bytes(), PROXY, "BR", "text/vnd.android.anr")
        mired.until("all is worked on", lambda: self.server.sql("SELECT count(*) FROM inbox") == ["0"])
        counts = collections.Counter(believed for _, _, believed in SENT if believed)

        self.assertEqual(sorted(self.server.sql("SELECT country, count(*) FROM event WHERE country <> '' GROUP BY 1")),
                         sorted([f"{country}|{count}" for country, count in counts.items()] + ["BR|1"]))
        issues = [one for group in self.get("issues", "listIssues")["groups"] for one in group["issues"]]
        issue, = (one for one in issues if one["totals"]["reports"] == len(SENT))
        told, = (one for one in self.get(f"issues/{issue['id']}", "getIssue")["distributions"] if one["name"] == "country")
        self.assertEqual({value["key"]: value["reports"] for value in told["values"]}, counts)
        rates = {value["value"]: value for value in self.get("rates", "getRates", by="country")["values"]}
        self.assertEqual({country: rates[country]["records"] for country in rates if country}, counts)
        self.assertNotIn("FR", rates)


if __name__ == "__main__":
    unittest.main()
